"""A teacher's insides, each text read as if alone: what it says of a text then depends on no other text and no padding.

So what was kept, and what is asked anew, are the same to the bit. Texts of one length go through ONNX Runtime together, which takes 0.8 of
the time (docs/diary.md), once a first few have shown to give the same bits together as alone.
"""

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from niwaki.engines.export import INPUTS, graph_of, with_standard_operators
from niwaki.models.activations import LOGITS, ActivationsModule
from niwaki.models.model import Model

CHUNK_TOKENS = 8192  # tokens in work at a time: few enough that their insides fit in memory
GROUP_TEXTS = 8  # texts of one length; more are no faster

Tokens = tuple[np.ndarray, np.ndarray]  # ids, types
TeacherOutput = dict[str, np.ndarray]


class ActivationRunner:
    """Sequences (ids, types) to their insides by name. Nothing is made before the first is asked for."""

    def __init__(self, model: Model, names: Iterable[str], threads: int) -> None:
        self.model, self.names, self.threads = model, sorted(set(names) - {LOGITS}), threads
        self.together: int | None = None  # not tried yet
        self._session: Any = None

    def __call__(self, sequences: Iterable[Tokens]) -> Iterator[TeacherOutput]:
        self._session = self._session or self._start()
        with ThreadPoolExecutor(self.threads, thread_name_prefix="niwaki") as pool:
            for some in token_chunks(sequences):
                lengths = [len(ids) for ids, _ in some]
                groups = group_by_length(lengths, self._together(some, lengths))
                found: dict[int, TeacherOutput] = {}
                batches = [[some[number] for number in group] for group in groups]
                for group, outputs in zip(groups, pool.map(self._run, batches), strict=True):
                    found.update(zip(group, outputs, strict=True))
                yield from (found[number] for number in range(len(some)))

    def _together(self, some: Sequence[Tokens], lengths: Sequence[int]) -> int:
        """How many texts of one length may be read together: this runtime may add in another order for more of them."""
        if self.together is None and len(first := max(group_by_length(lengths, GROUP_TEXTS), key=len)) > 1:
            group = [some[i] for i in first]
            apart = [said for one in group for said in self._run([one])]
            same = all(
                np.array_equal(one[name], other[name])
                for one, other in zip(self._run(group), apart, strict=True)
                for name in one
            )
            self.together = GROUP_TEXTS if same else 1
        return self.together or 1

    def _run(self, texts: Sequence[Tokens]) -> list[TeacherOutput]:
        """Of texts of one length."""
        ids, types = (np.stack(part).astype(np.int64) for part in zip(*texts, strict=True))
        given = {"ids": ids, "mask": np.ones_like(ids), "types": types}
        wanted = {entry.name for entry in self._session.get_inputs()}
        found = self._session.run(None, {name: given[name] for name in INPUTS if name in wanted})
        return [dict(zip([LOGITS, *self.names], parts, strict=True)) for parts in zip(*found, strict=True)]

    def _start(self) -> Any:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.log_severity_level = 3
        insides = ActivationsModule(self.model.network, self.model.anatomy, self.names)
        traced = graph_of(insides, self.model.anatomy.uses_token_types, [LOGITS, *self.names])
        graph = with_standard_operators(traced).SerializeToString()
        return onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])


def token_chunks(sequences: Iterable[Tokens]) -> Iterator[list[Tokens]]:
    """Sequences in their order, about CHUNK_TOKENS tokens at a time."""
    some: list[Tokens] = []
    tokens = 0
    for one in sequences:
        some.append(one)
        tokens += len(one[0])
        if tokens >= CHUNK_TOKENS:
            yield some
            some, tokens = [], 0
    if some:
        yield some


def group_by_length(lengths: Sequence[int], most: int) -> list[list[int]]:
    """Places of equal lengths, in groups of at most so many."""
    groups: list[list[int]] = []
    for place in np.argsort(lengths, kind="stable").tolist():
        if groups and len(groups[-1]) < most and lengths[groups[-1][0]] == lengths[place]:
            groups[-1].append(place)
        else:
            groups.append([place])
    return groups
