"""niwaki's own kernels: for encoders on x86 processors, without padding; 8-bit weights are multiplied as such."""

from pathlib import Path
from typing import ClassVar

import numpy as np

from niwaki.answers._from_config import answer_type_of, labels_of
from niwaki.core.errors import InputError
from niwaki.data.ragged import Ragged
from niwaki.engines.exits import PackedBatch, layer_ranges
from niwaki.engines.graph_rules import DECODER
from niwaki.engines.native.library import REQUIREMENTS, best
from niwaki.engines.native.network import Network
from niwaki.engines.native.program_file import PROGRAM, fix, outdated, read_program
from niwaki.engines.runtime import Runtime
from niwaki.models.config_rules import CONFIG
from niwaki.models.config_rules import read as read_config

BATCH_TOKENS = (
    384  # tokens of a batch: what lies between two layers stays in the cache, and weights are read rarely enough
)


class Native(Runtime):
    """What a text is answered does not depend on the texts beside it, to the bit."""

    supports_early_exit: ClassVar[bool] = True

    def __init__(self, folder: Path, threads: int, kernels: str | None = None) -> None:
        super().__init__(folder, threads)
        self.network = Network(*read_program(folder), str(folder / PROGRAM), kernels)
        self._refuse_other_outputs()
        self.reads_types = self.network.sizes.types > 0

    @classmethod
    def missing_requirement(cls) -> str | None:
        return (
            None if best() else f"native engine: it was not built, or this processor lacks what it uses; {REQUIREMENTS}"
        )

    @classmethod
    def unsupported_reason(cls, folder: Path) -> str | None:
        if (folder / DECODER).is_file():
            return cls.generation_unsupported(folder)
        if not (folder / PROGRAM).is_file():
            return f"{folder}: has no {PROGRAM}; `niwaki export {folder} --to native` writes a model that has"
        return outdated(folder) or cls.missing_requirement()

    def _refuse_other_outputs(self) -> None:
        """Logits that nobody could read: a program may come from a stranger, with digests that match."""
        config, where = read_config(self.folder), str(self.folder / CONFIG)
        labels, per_token = len(labels_of(config, where)), answer_type_of(config, where).per_token
        if self.network.sizes.labels != labels or self.network.per_token != per_token:
            raise InputError(
                f"{self.folder / PROGRAM}: its head gives {self.network.sizes.labels} numbers for each {'token' if self.network.per_token else 'text'}, "
                f"and {CONFIG} asks for {labels} for each {'token' if per_token else 'text'}; {fix(self.folder)}"
            )

    def batches(self, lengths: np.ndarray) -> list[np.ndarray]:
        """In the order of arrival, of about as many tokens each: one, or as many for every thread."""
        ends = np.cumsum(lengths)
        count = -(-int(ends[-1]) // BATCH_TOKENS)
        count = -(-count // self.threads) * self.threads if count > 1 else 1
        return np.split(np.arange(len(lengths)), np.flatnonzero(np.diff((ends - 1) * count // int(ends[-1]))) + 1)

    def run(
        self, ids: Ragged, types: Ragged, sequences: np.ndarray, pad_id: int, use_all_threads: bool = False
    ) -> np.ndarray:
        return self.network(*packed(ids, types, sequences), self.threads if use_all_threads else 1)

    def start_layers(self, ids: Ragged, types: Ragged, sequences: np.ndarray, pad_id: int) -> PackedBatch:
        return PackedBatch(*packed(ids, types, sequences))

    def run_layers(
        self, waiting: PackedBatch, number: int, exits: list[int], use_all_threads: bool = False
    ) -> tuple[np.ndarray, np.ndarray]:
        depths, threads = layer_ranges(exits, self.network.depth)[number], self.threads if use_all_threads else 1
        return self.network.run_layers(waiting.start, waiting.types, waiting.lengths, *depths, threads)


def packed(ids: Ragged, types: Ragged, sequences: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Ids, types and lengths of sequences that follow each other."""
    tokens = slice(ids.starts[sequences[0]], ids.starts[sequences[-1] + 1])
    return ids.values[tokens], types.values[tokens], ids.lengths[sequences]
