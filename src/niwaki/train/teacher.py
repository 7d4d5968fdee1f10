"""Teachers: frozen models whose outputs for the rows of a batch the student learns from, in the teacher's own tokens."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from torch import Tensor

from niwaki.answers._answer_type import EncodedInputs
from niwaki.core.log import progress
from niwaki.models.activations import LOGITS, shaped
from niwaki.models.forward import Batch, Outputs, forward
from niwaki.models.model import Model
from niwaki.models.recorded import LazyDepths
from niwaki.train import distributed
from niwaki.train.collator import Collator
from niwaki.train.infer import logits_of
from niwaki.train.precision import autocast
from niwaki.train.teacher_cache import TeacherCache, blocks, key_of

TeacherOutput = dict[str, np.ndarray]  # of one sequence: logits and activations by name
Sizes = Callable[[str, np.ndarray], np.ndarray]  # name and lengths → number of values per sequence
TeacherFunction = Callable[[Sequence[int]], Iterable[TeacherOutput]]  # from the numbers of sequences


@dataclass(frozen=True)
class Teacher:
    """Gives padded outputs for a batch; `outputs_of` computes or reads those of single sequences."""

    collator: Collator
    names: tuple[str, ...]
    per_token: bool
    outputs_of: TeacherFunction

    @torch.no_grad()
    def __call__(self, batch: Batch) -> Outputs:
        sequences = self.collator.features.rows.sequences(batch.rows.numpy())
        tokens = int(self.collator.features.rows.lengths[sequences].max())
        outputs = list(self.outputs_of(sequences.tolist()))
        depths: dict[str, list[int]] = {}
        for name in self.names:
            if name != LOGITS:
                what, depth = name.split(".")
                depths.setdefault(what, []).append(int(depth))
        found = {what: self._lazy(outputs, what, numbers, tokens) for what, numbers in depths.items()}
        return Outputs(self._pad_and_stack(outputs, LOGITS, tokens), **found)

    def _lazy(self, outputs: list[TeacherOutput], what: str, depths: list[int], tokens: int) -> LazyDepths:
        """Activations that are padded, or put together without padding, when a method reads them."""

        def unpad(depth: int, order: Tensor) -> Tensor:
            parts = [outputs[number][f"{what}.{depth}"] for number in order.tolist()]
            whole = np.concatenate([part.reshape(-1) for part in parts] if what == "scores" else parts)
            return torch.from_numpy(whole).to(self.collator.device)

        return LazyDepths(depths, lambda depth: self._pad_and_stack(outputs, f"{what}.{depth}", tokens), unpad)

    def _pad_and_stack(self, outputs: list[TeacherOutput], name: str, tokens: int) -> Tensor:
        """One activation of all sequences, with tokens padded with 0."""
        first = outputs[0][name]
        axes = 2 if name.startswith("scores.") else 1 if self.per_token or name != LOGITS else 0
        shape = list(first.shape)
        place = 1 if axes == 2 else 0
        shape[place : place + axes] = [tokens] * axes
        whole = np.zeros((len(outputs), *shape), dtype=np.float32)
        for number, output in enumerate(outputs):
            part = output[name]
            whole[number][tuple(slice(size) for size in part.shape)] = part
        return torch.from_numpy(whole).to(self.collator.device)


def average_logits(teachers: Sequence[Callable[[Batch], Outputs]], batch: Batch) -> Outputs:
    """The mean of the teachers' logits, i.e. the normalized geometric mean of their distributions."""
    return Outputs(torch.stack([teacher(batch).logits for teacher in teachers]).mean(dim=0))


def ensemble(teachers: Sequence[Callable[[Batch], Outputs]]) -> Callable[[Batch], Outputs]:
    return teachers[0] if len(teachers) == 1 else partial(average_logits, teachers)


def memoize_last_batch(teacher: Callable[[Batch], Outputs]) -> Callable[[Batch], Outputs]:
    """Computes the outputs of a batch once, although several methods read them."""
    last: list[tuple[Tensor, Outputs]] = []

    def answer(batch: Batch) -> Outputs:
        if not last or last[0][0] is not batch.rows:
            last[:] = [(batch.rows, teacher(batch))]
        return last[0][1]

    return answer


class CacheLayout:
    """Where outputs are in the cache: for each block of sequences and each name, the key and the offset of every sequence."""

    def __init__(
        self, who: Sequence[str], rows: EncodedInputs, names: Sequence[str], sizes: Sizes, per_token: bool
    ) -> None:
        self.lengths, self.per_token = rows.lengths, per_token
        self.blocks = blocks(len(self.lengths))
        self.keys: list[dict[str, str]] = []
        self.starts: list[dict[str, np.ndarray]] = []
        for block in self.blocks:
            values = [part.stretch(block).values for part in rows.arrays.values()]
            lengths = self.lengths[block.start : block.stop].astype(np.int64)
            self.keys.append({name: key_of(who, name, values, lengths) for name in names})
            self.starts.append({name: _starts(sizes(name, lengths)) for name in names})

    @property
    def bytes(self) -> dict[str, int]:
        """Size of each entry on disk."""
        pairs = zip(self.keys, self.starts, strict=True)
        return {key: 4 * int(starts[name][-1]) for keys, starts in pairs for name, key in keys.items()}


class CachedTeacherFunction:
    """Reads outputs from the cache. The constructor computes the missing ones: several processes take turns, block by block."""

    def __init__(
        self,
        cache: TeacherCache,
        layout: CacheLayout,
        teacher_function: TeacherFunction,
        label: str,
        tick: Callable[[], None],
    ) -> None:
        self.layout = layout
        world, own = distributed.processes(), distributed.number()
        found: dict[int, dict[str, np.ndarray]] = {}
        with progress(label, len(layout.lengths)) as update:
            for first in range(0, len(layout.blocks), world):
                tick()
                together = range(first, min(first + world, len(layout.blocks)))
                if first + own in together:
                    found[first + own] = self._block(cache, first + own, teacher_function)
                distributed.wait_for_all()  # the blocks of the others are in the cache now
                found |= {
                    block: self._block(cache, block, teacher_function) for block in together if block not in found
                }
                update(layout.blocks[together[-1]].stop, "texts read")
        self.parts = [found[number] for number in range(len(layout.blocks))]

    def _block(self, cache: TeacherCache, block: int, teacher_function: TeacherFunction) -> dict[str, np.ndarray]:
        keys, starts = self.layout.keys[block], self.layout.starts[block]
        found = {name: part for name, key in keys.items() if (part := cache.find(key)) is not None}
        missing = {name: np.empty(starts[name][-1], np.float32) for name in keys if name not in found}
        for number, output in enumerate(teacher_function(self.layout.blocks[block]) if missing else ()):
            for name, whole in missing.items():
                whole[starts[name][number] : starts[name][number + 1]] = output[name].reshape(-1)
        return found | {name: cache.put(keys[name], whole) for name, whole in missing.items()}

    def __call__(self, sequences: Sequence[int]) -> Iterator[TeacherOutput]:
        layout = self.layout
        for sequence in sequences:
            block, number = divmod(sequence, len(layout.blocks[0]))
            length = int(layout.lengths[sequence])
            yield {
                name: shaped(
                    part[slice(*layout.starts[block][name][number : number + 2])], name, length, layout.per_token
                )
                for name, part in self.parts[block].items()
            }


def batched_teacher_function(model: Model, collator: Collator, precision: str) -> TeacherFunction:
    """Logits from torch, in batches of similar length. A block always forms the same batches, so results are reproducible."""

    def teacher_function(sequences: Sequence[int]) -> Iterator[TeacherOutput]:
        chosen = np.asarray(sequences)
        logits = logits_of(model, collator, precision, chosen)
        if not model.anatomy.per_token:
            return ({LOGITS: row} for row in logits)
        ends = np.cumsum(collator.features.rows.lengths[chosen])[:-1]
        return ({LOGITS: rows} for rows in np.split(logits, ends))

    return teacher_function


def uncached_teacher(
    model: Model, collator: Collator, names: Iterable[str], precision: str
) -> Callable[[Batch], Outputs]:
    """Runs the teacher on the student's batches without a cache: on GPUs, and for seq2seq teachers, whose logits for every
    token of the vocabulary at every position are too large to cache."""
    activations = frozenset(name.split(".")[0] for name in names)
    anatomy = model.anatomy

    @torch.no_grad()
    def answer(batch: Batch) -> Outputs:
        with autocast(precision, collator.device):
            return forward(anatomy, collator.batch(batch.rows.numpy()), activations)

    return answer


def _starts(sizes: np.ndarray) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(sizes)])
