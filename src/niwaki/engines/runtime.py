"""The interface of an engine: named arrays in, logits out."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Protocol

import numpy as np

from niwaki.answers._answer_type import EncodedInputs
from niwaki.answers._beam_search import SearchSettings
from niwaki.core.extras import missing_package
from niwaki.data.batching import sorted_batches
from niwaki.data.pixels import PIXELS
from niwaki.engines.exits import ActiveBatch, PaddedBatch

BATCH_ROWS, BATCH_TOKENS = 32, 1024  # small enough for the caches: measured in benchmarks/batches.py

Arrays = Mapping[
    str, np.ndarray
]  # a network's inputs by name: `input_ids`, `attention_mask`, `token_type_ids`, `pixel_values`


TEXT_INPUTS = ("input_ids", "attention_mask", "token_type_ids")
KNOWN_INPUTS = {*TEXT_INPUTS, PIXELS}  # names that a graph may read


class Runtime:
    """Base class of the files in `runtimes/`. Several threads may call one runtime at the same time."""

    preference: ClassVar[int | None] = None  # order of the automatic choice, lowest first; None: only used by name
    package: ClassVar[str] = ""  # the installed package that runs the model, if any
    is_timed: ClassVar[bool] = True  # whether it takes part in the speed comparison of `engine="auto"`
    is_optional: ClassVar[bool] = False  # whether that comparison goes on without it if it cannot load a model
    is_export_target: ClassVar[bool] = True  # whether `niwaki export --to` accepts it
    supports_seq2seq: ClassVar[bool] = False  # whether it runs networks that generate text

    inputs: tuple[str, ...] = TEXT_INPUTS  # names that this network reads
    generates: bool = False  # whether this network generates text: it returns token ids instead of logits
    search: SearchSettings | None = None  # and how

    def __init__(self, folder: Path, threads: int) -> None:
        self.folder = folder
        self.threads = threads

    @classmethod
    def missing_requirement(cls) -> str | None:
        """What this machine lacks to run any model, and how to install it; None if nothing is missing."""
        missing = missing_package(cls.package)
        return f"{cls.__module__.rpartition('.')[2]} engine: {missing}" if missing else None

    @classmethod
    def unsupported_reason(cls, folder: Path) -> str | None:
        """Why this engine cannot run the model in the folder; None if it can."""
        return cls.missing_requirement()

    @classmethod
    def generation_unsupported(cls, where: object) -> str:
        """The error message for a network that generates text."""
        return f"{where}: the network generates text token by token, which this engine does not run; use onnx or torch"

    @property
    def remark(self) -> str:
        """What a user should know about how the engine runs this model; usually empty."""
        return ""

    def batches(self, lengths: np.ndarray) -> list[np.ndarray]:
        """Row numbers of the sequences that run together."""
        return sorted_batches(lengths, BATCH_ROWS, BATCH_TOKENS)

    def run(
        self, encoded: EncodedInputs, sequences: np.ndarray, pad_id: int, use_all_threads: bool = False
    ) -> np.ndarray:
        """Logits of the chosen sequences: (sequences, labels), or (tokens of all sequences, labels) from a token head.

        The default pads the sequences and calls `logits`. An engine that computes without padding overrides this. With
        `use_all_threads` no other batch runs at the same time."""
        arrays = encoded.padded(sequences, pad_id)
        logits = self.logits(arrays)
        return logits[arrays["attention_mask"] == 1] if logits.ndim == 3 else logits

    def logits(self, arrays: Arrays) -> np.ndarray:
        """Integer arrays (batch, tokens) to logits (batch, labels), or (batch, tokens, labels) from a token head."""
        raise NotImplementedError

    def text_reader(self) -> "TextReader | None":
        """Something that remembers what it has read, for texts that grow; None if this engine reads texts from the start."""
        return None


class TextReader(Protocol):
    """Reads growing texts of a causal language model; used by one thread."""

    def next_logits(self, texts: Sequence[Sequence[int]]) -> np.ndarray:
        """Logits of the token behind each text, (texts, vocabulary)."""
        ...


class EarlyExitRuntime(Runtime):
    """An engine that can run a network in layer ranges, so that sequences can leave it at an early exit."""

    def start_layers(self, encoded: EncodedInputs, sequences: np.ndarray, pad_id: int) -> ActiveBatch:
        """The chosen sequences before the first layer."""
        return PaddedBatch(encoded.padded(sequences, pad_id))

    def run_layers(
        self, batch: ActiveBatch, number: int, exits: list[int], use_all_threads: bool = False
    ) -> tuple[np.ndarray, np.ndarray]:
        """Runs layer range `number`: logits (sequences, labels), and the hidden states that the next range starts with."""
        raise NotImplementedError
