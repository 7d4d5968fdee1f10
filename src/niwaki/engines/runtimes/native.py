"""niwaki's own kernels: for encoders and encoder–decoders on x86 processors, without padding; 8-bit weights run as integer products."""

from pathlib import Path
from typing import ClassVar

import numpy as np

from niwaki.answers._answer_type import EncodedInputs
from niwaki.answers._beam_search import NO_TOKEN
from niwaki.answers._forced_decoding import LABELS
from niwaki.answers._from_config import answer_type_of, labels_of
from niwaki.core.errors import InputError
from niwaki.data.batching import sorted_batches
from niwaki.engines.exits import ActiveBatch, PackedBatch, layer_ranges
from niwaki.engines.generation import search_of
from niwaki.engines.native.decoder_program import LanguageProgram, TextProgram
from niwaki.engines.native.generator import Generator
from niwaki.engines.native.language import LanguageNetwork, Reader
from niwaki.engines.native.library import REQUIREMENTS, best
from niwaki.engines.native.network import Network
from niwaki.engines.native.program_file import PROGRAM, Tensors, fix, outdated, read_program
from niwaki.engines.runtime import Arrays, EarlyExitRuntime
from niwaki.models.config_rules import CONFIG
from niwaki.models.config_rules import read as read_config

BATCH_TOKENS = 384  # activations of a batch fit in the cache, and weights are read rarely enough
# of generation: each token reads all weights of the decoder once for all hypotheses of a batch
BATCH_HYPOTHESES, GENERATION_TOKENS = 128, 2048


class Native(EarlyExitRuntime):
    """The logits of a text, or the text generated for it, do not depend on the other texts of its batch, to the bit."""

    preference: ClassVar[int | None] = 2
    supports_seq2seq: ClassVar[bool] = True

    def __init__(self, folder: Path, threads: int, kernels: str | None = None) -> None:
        super().__init__(folder, threads)
        program, tensors = read_program(folder)
        self.language: LanguageNetwork | None = None
        if isinstance(program, LanguageProgram):
            self._open_language(program, tensors, kernels)
            return
        self.search = search_of(folder) if isinstance(program, TextProgram) else None
        self.generates = self.search is not None
        network = Generator if self.generates else Network
        self.network = network(program, tensors, str(folder / PROGRAM), kernels)
        if not self.generates:
            self._check_outputs()
        if not self.network.sizes.types:
            self.inputs = ("input_ids", "attention_mask")

    def _open_language(self, program: LanguageProgram, tensors: Tensors, kernels: str | None) -> None:
        self.search, self.inputs = None, ("input_ids", "attention_mask")
        self.language = LanguageNetwork(program, tensors, str(self.folder / PROGRAM), kernels)
        config = read_config(self.folder)
        vocabulary, wanted = self.language.sizes.vocabulary, config.get("vocab_size")
        if vocabulary != wanted or not answer_type_of(config, str(self.folder / CONFIG)).per_token:
            raise InputError(
                f"{self.folder / PROGRAM}: gives {vocabulary} logits for each token, and {CONFIG} expects others; {fix(self.folder)}"
            )

    def text_reader(self) -> Reader | None:
        return None if self.language is None else Reader(self.language, self.threads)

    @classmethod
    def missing_requirement(cls) -> str | None:
        return (
            None
            if best()
            else f"native engine: it was not built, or this processor does not support it; {REQUIREMENTS}"
        )

    @classmethod
    def unsupported_reason(cls, folder: Path) -> str | None:
        if not (folder / PROGRAM).is_file():
            return f"{folder}: has no {PROGRAM}; `niwaki export {folder} --to native` writes a model that has"
        reason = outdated(folder) or cls.missing_requirement()
        if reason is None and generates_by_grammar(folder):
            return f"{folder}: generates what a grammar allows, which this engine does not run; use onnx or torch"
        return reason

    def _check_outputs(self) -> None:
        """Rejects logits of another shape than the config: an untrusted program may have matching digests."""
        config, where = read_config(self.folder), str(self.folder / CONFIG)
        labels, per_token = len(labels_of(config, where)), answer_type_of(config, where).per_token
        if self.network.sizes.labels != labels or self.network.per_token != per_token:
            raise InputError(
                f"{self.folder / PROGRAM}: its head gives {self.network.sizes.labels} numbers for each {'token' if self.network.per_token else 'text'}, "
                f"and {CONFIG} expects {labels} for each {'token' if per_token else 'text'}; {fix(self.folder)}"
            )

    def batches(self, lengths: np.ndarray) -> list[np.ndarray]:
        """Consecutive texts with about the same number of tokens each: one batch, or the same number for each thread. Texts that are
        generated have batches of like length, so that they end at about the same time."""
        if self.search is not None:
            return self._generation_batches(lengths, self.search.beam)
        ends = np.cumsum(lengths)
        count = -(-int(ends[-1]) // BATCH_TOKENS)
        count = -(-count // self.threads) * self.threads if count > 1 else 1
        return np.split(np.arange(len(lengths)), np.flatnonzero(np.diff((ends - 1) * count // int(ends[-1]))) + 1)

    def _generation_batches(self, lengths: np.ndarray, beam: int) -> list[np.ndarray]:
        each = -(-len(lengths) // self.threads)  # every thread has work
        return sorted_batches(lengths, max(1, min(BATCH_HYPOTHESES // beam, each)), GENERATION_TOKENS)

    def run(
        self, encoded: EncodedInputs, sequences: np.ndarray, pad_id: int, use_all_threads: bool = False
    ) -> np.ndarray:
        threads = self.threads if use_all_threads else 1
        if self.language is not None:
            ids, _, lengths = packed(encoded, sequences)
            return self.language(ids, lengths, threads)
        if self.search is None:
            return self.network(*packed(encoded, sequences), threads)
        labels = encoded.arrays.get(LABELS)
        targets = None if labels is None else labels.padded(sequences, NO_TOKEN)[0]
        return self._generate(*(concatenated(encoded, sequences)), targets, threads)

    def _generate(
        self, ids: np.ndarray, types: np.ndarray, lengths: np.ndarray, targets: np.ndarray | None, threads: int
    ) -> np.ndarray:
        """The text found for each, or how likely its target is."""
        assert isinstance(self.network, Generator) and self.search is not None
        if targets is None:
            return self.network.generate(ids, types, lengths, self.search, threads)
        return self.network.score(ids, types, lengths, targets, self.search, threads)

    def logits(self, arrays: Arrays) -> np.ndarray:
        mask = arrays["attention_mask"].astype(bool)
        ids = arrays["input_ids"]
        types = arrays.get("token_type_ids", np.zeros_like(ids))
        if self.language is not None:
            return padded(self.language(ids[mask], mask.sum(axis=1)), mask)
        if self.search is not None:
            return self._generate(ids[mask], types[mask], mask.sum(axis=1), arrays.get(LABELS), 1)
        logits = self.network(ids[mask], types[mask], mask.sum(axis=1))
        return padded(logits, mask) if self.network.per_token else logits

    def start_layers(self, encoded: EncodedInputs, sequences: np.ndarray, pad_id: int) -> PackedBatch:
        return PackedBatch(*packed(encoded, sequences))

    def run_layers(
        self, batch: ActiveBatch, number: int, exits: list[int], use_all_threads: bool = False
    ) -> tuple[np.ndarray, np.ndarray]:
        assert isinstance(batch, PackedBatch)
        depths, threads = layer_ranges(exits, self.network.depth)[number], self.threads if use_all_threads else 1
        return self.network.run_layers(batch.start, batch.types, batch.lengths, *depths, threads)


def padded(logits: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Logits of real tokens to (batch, tokens, labels)."""
    found = np.zeros((*mask.shape, logits.shape[-1]), dtype=np.float32)
    found[mask] = logits
    return found


def generates_by_grammar(folder: Path) -> bool:
    answer = read_config(folder).get("niwaki_answer")
    return isinstance(answer, dict) and bool(answer.get("grammar"))


def concatenated(encoded: EncodedInputs, sequences: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The same as `packed` for sequences that need not be consecutive."""
    ids, types = ([array[number] for number in sequences] for array in (encoded.ids, encoded.types))
    return np.concatenate(ids), np.concatenate(types), encoded.ids.lengths[sequences]


def packed(encoded: EncodedInputs, sequences: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Token ids, token types and lengths of consecutive sequences, concatenated."""
    ids = encoded.ids
    tokens = slice(ids.starts[sequences[0]], ids.starts[sequences[-1] + 1])
    return ids.values[tokens], encoded.types.values[tokens], ids.lengths[sequences]
