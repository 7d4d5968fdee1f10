"""What a runtime must do: sequences of token ids in, logits out."""

from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from niwaki.data.batching import sorted_batches
from niwaki.data.ragged import Ragged
from niwaki.engines.exits import ActiveBatch, PaddedBatch

BATCH_ROWS, BATCH_TOKENS = 32, 1024  # small enough for the caches: measured in benchmarks/batches.py


class Runtime:
    """Base of the files in `runtimes/`. May be called from several threads at once. One that pads writes `logits` alone."""

    supports_early_exit: ClassVar[bool] = False  # whether texts can leave the network early, at exits
    supports_seq2seq: ClassVar[bool] = False  # whether it runs networks that write, token by token

    reads_types: bool = True  # whether the network does read token types

    def __init__(self, folder: Path, threads: int) -> None:
        self.folder = folder
        self.threads = threads

    @classmethod
    def missing_requirement(cls) -> str | None:
        """What this machine lacks to run any model in it, and how to get it; or None."""
        return None

    @classmethod
    def unsupported_reason(cls, folder: Path) -> str | None:
        """Why this runtime cannot serve the folder, or None."""
        return cls.missing_requirement()

    @classmethod
    def generation_unsupported(cls, where: object) -> str:
        """Why a network that writes is not run."""
        return f"{where}: the network writes its answers token by token, which this engine does not run; take onnx or torch"

    @property
    def remark(self) -> str:
        """What a user should know of how it runs the model; mostly nothing."""
        return ""

    def batches(self, lengths: np.ndarray) -> list[np.ndarray]:
        """Numbers of the sequences that are run together."""
        return sorted_batches(lengths, BATCH_ROWS, BATCH_TOKENS)

    def run(
        self, ids: Ragged, types: Ragged, sequences: np.ndarray, pad_id: int, use_all_threads: bool = False
    ) -> np.ndarray:
        """Chosen sequences to (sequences, labels), or from heads per token to (their tokens, one behind the other, labels). A batch
        that is `use_all_threads` may have all threads."""
        filled, mask = ids.padded(sequences, pad_id)
        found = self.logits(filled, mask.astype(np.int64), types.padded(sequences)[0])
        return found[mask] if found.ndim == 3 else found

    def start_layers(self, ids: Ragged, types: Ragged, sequences: np.ndarray, pad_id: int) -> ActiveBatch:
        """Chosen sequences as `run_layers` takes them, before the first layer."""
        filled, mask = ids.padded(sequences, pad_id)
        return PaddedBatch(filled, mask.astype(np.int64), types.padded(sequences)[0])

    def run_layers(
        self, waiting: Any, number: int, exits: list[int], use_all_threads: bool = False
    ) -> tuple[np.ndarray, np.ndarray]:
        """From one exit to the next: logits (texts, labels), and what the following stretch begins with, where there is one."""
        raise NotImplementedError

    def logits(self, ids: np.ndarray, mask: np.ndarray, types: np.ndarray) -> np.ndarray:
        """(batch, tokens) integers each, to (batch, labels), or (batch, tokens, labels) from heads per token."""
        raise NotImplementedError
