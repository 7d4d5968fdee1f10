"""A teacher's insides, each text read as if alone: what it says of a text then depends on no other text and no padding.

So what was kept, and what is asked anew, are the same to the bit. Texts of one length go through ONNX Runtime together, which takes 0.8 of
the time (docs/diary.md), once a first few have shown to give the same bits together as alone.
"""

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from niwaki.engines.export import INPUTS, graph_of, written_out
from niwaki.models.insides import LOGITS, Insides
from niwaki.models.model import Model

AHEAD = 8192  # tokens in work at a time: few enough that their insides fit in memory
TOGETHER = 8  # texts of one length; more are no faster

Tokens = tuple[np.ndarray, np.ndarray]  # ids, types
Said = dict[str, np.ndarray]


class Alone:
    """Sequences (ids, types) to their insides by name. Nothing is made before the first is asked for."""

    def __init__(self, model: Model, names: Iterable[str], threads: int) -> None:
        self.model, self.names, self.threads = model, sorted(set(names) - {LOGITS}), threads
        self.together: int | None = None  # not tried yet
        self._session: Any = None

    def __call__(self, sequences: Iterable[Tokens]) -> Iterator[Said]:
        self._session = self._session or self._start()
        with ThreadPoolExecutor(self.threads, thread_name_prefix="niwaki") as pool:
            for some in stretches(sequences):
                lengths = [len(ids) for ids, _ in some]
                groups = alike(lengths, self._together(some, lengths))
                found: dict[int, Said] = {}
                for group, said in zip(groups, pool.map(lambda one: self._run([some[i] for i in one]), groups), strict=True):  # noqa: B023 (used at once)  # fmt: skip
                    found.update(zip(group, said, strict=True))
                yield from (found[number] for number in range(len(some)))

    def _together(self, some: Sequence[Tokens], lengths: Sequence[int]) -> int:
        """How many texts of one length may be read together: this runtime may add in another order for more of them."""
        if self.together is None and len(first := max(alike(lengths, TOGETHER), key=len)) > 1:
            group = [some[i] for i in first]
            apart = [said for one in group for said in self._run([one])]
            same = all(np.array_equal(one[name], other[name]) for one, other in zip(self._run(group), apart, strict=True) for name in one)  # fmt: skip
            self.together = TOGETHER if same else 1
        return self.together or 1

    def _run(self, texts: Sequence[Tokens]) -> list[Said]:
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
        insides = Insides(self.model.network, self.model.anatomy, self.names)
        traced = graph_of(insides, self.model.anatomy.uses_types, [LOGITS, *self.names])
        graph = written_out(traced).SerializeToString()
        return onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])


def stretches(sequences: Iterable[Tokens]) -> Iterator[list[Tokens]]:
    """Sequences in their order, about AHEAD tokens at a time."""
    some: list[Tokens] = []
    tokens = 0
    for one in sequences:
        some.append(one)
        tokens += len(one[0])
        if tokens >= AHEAD:
            yield some
            some, tokens = [], 0
    if some:
        yield some


def alike(lengths: Sequence[int], most: int) -> list[list[int]]:
    """Places of equal lengths, in groups of at most so many."""
    groups: list[list[int]] = []
    for place in np.argsort(lengths, kind="stable").tolist():
        if groups and len(groups[-1]) < most and lengths[groups[-1][0]] == lengths[place]:
            groups[-1].append(place)
        else:
            groups.append([place])
    return groups
