"""A teacher's activations, computed for each sequence as if it were alone, so that they depend on no other text and no padding.

Cached and newly computed activations are therefore the same to the bit. Sequences of one length run in ONNX Runtime together,
which takes 0.8 of the time (docs/diary.md), if a first group gives the same bits together as one by one.
"""

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from niwaki.answers._answer_type import EncodedInputs
from niwaki.engines.export import graph_of, with_standard_operators
from niwaki.engines.onnx_session import input_names, session_of
from niwaki.models.activations import LOGITS, run_with
from niwaki.models.model import Model

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

CHUNK_TOKENS = 8192  # tokens computed at a time: few enough for their activations to fit in memory
GROUP_SIZE = 8  # sequences of one length; more are no faster

TeacherOutput = dict[str, np.ndarray]  # logits and activations of one sequence, by name


class ActivationRunner:
    """Sequences to their activations by name. The graph is exported at the first call."""

    def __init__(self, model: Model, names: Iterable[str], threads: int) -> None:
        self.model, self.names, self.threads = model, sorted(set(names) - {LOGITS}), threads
        self.group_size: int | None = None  # None: not tested yet

    def __call__(self, encoded: EncodedInputs, sequences: Sequence[int]) -> Iterator[TeacherOutput]:
        lengths, run = encoded.lengths, partial(self._run, encoded)
        with ThreadPoolExecutor(self.threads, thread_name_prefix="niwaki") as pool:
            for chunk in token_chunks(sequences, lengths):
                groups = group_by_length(chunk, lengths, self._group_size(encoded, chunk))
                found: dict[int, TeacherOutput] = {}
                for group, outputs in zip(groups, pool.map(run, groups), strict=True):
                    found.update(zip(group, outputs, strict=True))
                yield from (found[sequence] for sequence in chunk)

    def _group_size(self, encoded: EncodedInputs, chunk: Sequence[int]) -> int:
        """How many sequences of one length may run together: ONNX Runtime may add in another order if there are more."""
        if self.group_size is None:
            largest = max(group_by_length(chunk, encoded.lengths, GROUP_SIZE), key=len)
            if len(largest) > 1:
                alone = [output for sequence in largest for output in self._run(encoded, [sequence])]
                pairs = zip(self._run(encoded, largest), alone, strict=True)
                same = all(np.array_equal(output[name], other[name]) for output, other in pairs for name in output)
                self.group_size = GROUP_SIZE if same else 1
        return self.group_size or 1

    def _run(self, encoded: EncodedInputs, group: Sequence[int]) -> list[TeacherOutput]:
        """The outputs of sequences of one length."""
        arrays = encoded.padded(np.asarray(group), pad_id=0)  # of one length: nothing is padded
        found = self._session.run(None, {name: arrays[name] for name in input_names(self._session)})
        return [dict(zip([LOGITS, *self.names], row, strict=True)) for row in zip(*found, strict=True)]

    @cached_property
    def _session(self) -> "InferenceSession":
        anatomy = self.model.anatomy
        traced = graph_of(anatomy, partial(run_with, anatomy, names=self.names), [LOGITS, *self.names])
        return session_of(with_standard_operators(traced).SerializeToString())


def token_chunks(sequences: Iterable[int], lengths: np.ndarray) -> Iterator[list[int]]:
    """Sequences in their order, about CHUNK_TOKENS tokens at a time."""
    chunk: list[int] = []
    tokens = 0
    for sequence in sequences:
        chunk.append(sequence)
        tokens += int(lengths[sequence])
        if tokens >= CHUNK_TOKENS:
            yield chunk
            chunk, tokens = [], 0
    if chunk:
        yield chunk


def group_by_length(sequences: Sequence[int], lengths: np.ndarray, most: int) -> list[list[int]]:
    """Groups of at most `most` sequences of equal length."""
    groups: list[list[int]] = []
    for place in np.argsort(lengths[np.asarray(sequences, dtype=np.int64)], kind="stable").tolist():
        sequence = sequences[place]
        if groups and len(groups[-1]) < most and lengths[groups[-1][0]] == lengths[sequence]:
            groups[-1].append(sequence)
        else:
            groups.append([sequence])
    return groups
