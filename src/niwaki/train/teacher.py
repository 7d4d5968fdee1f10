"""A teacher: a frozen model that answers for the rows of a batch, in its own tokens."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from accelerate import PartialState
from torch import Tensor

from niwaki.core.log import progress
from niwaki.data.ragged import Ragged
from niwaki.models.forward import HIDDEN, SCORES, STATES, Batch, Outputs, forward
from niwaki.models.insides import LOGITS, numbers, shaped
from niwaki.models.model import Model
from niwaki.train.feed import Feed
from niwaki.train.infer import logits_of
from niwaki.train.kept import Kept, blocks, key_of
from niwaki.train.precision import autocast

Said = dict[str, np.ndarray]  # of one sequence: the logits and other insides by name
Ask = Callable[[Sequence[int]], Iterable[Said]]  # sequences of the feed to what the teacher says of each


@dataclass(frozen=True)
class Teacher:
    """`says` gives what is known of some sequences, by name."""

    feed: Feed
    names: tuple[str, ...]
    per_token: bool
    says: Ask

    @torch.no_grad()
    def __call__(self, batch: Batch) -> Outputs:
        sequences = self.feed.features.rows.sequences(batch.rows.numpy())
        tokens = int(self.feed.features.rows.ids.lengths[sequences].max())
        said = list(self.says(sequences.tolist()))
        found: dict[str, dict[int, Tensor]] = {}
        for name in self.names:
            if name != LOGITS:
                what, depth = name.split(".")
                found.setdefault(what, {})[int(depth)] = self._together(said, name, tokens)
        return Outputs(self._together(said, LOGITS, tokens), **found)

    def _together(self, said: list[Said], name: str, tokens: int) -> Tensor:
        """One inside of all sequences, those with tokens filled up with 0."""
        first = said[0][name]
        axes = 2 if name.startswith("scores.") else 1 if self.per_token or name != LOGITS else 0
        shape = list(first.shape)
        place = 1 if axes == 2 else 0
        shape[place : place + axes] = [tokens] * axes
        whole = np.zeros((len(said), *shape), dtype=np.float32)
        for number, one in enumerate(said):
            part = one[name]
            whole[number][tuple(slice(size) for size in part.shape)] = part
        return torch.from_numpy(whole).to(self.feed.device)


def averaged(teachers: Sequence[Callable[[Batch], Outputs]], batch: Batch) -> Outputs:
    """Several teachers speak with the mean of their logits: the geometric mean of their distributions, up to its scale."""
    return Outputs(torch.stack([teacher(batch).logits for teacher in teachers]).mean(dim=0))


def several(teachers: Sequence[Callable[[Batch], Outputs]]) -> Callable[[Batch], Outputs]:
    return teachers[0] if len(teachers) == 1 else partial(averaged, teachers)


def remembering(teacher: Callable[[Batch], Outputs]) -> Callable[[Batch], Outputs]:
    """Several methods ask about one batch: it is answered once."""
    last: list[tuple[Tensor, Outputs]] = []

    def answer(batch: Batch) -> Outputs:
        if not last or last[0][0] is not batch.rows:
            last[:] = [(batch.rows, teacher(batch))]
        return last[0][1]

    return answer


class FromDisk:
    """Answers of all sequences of a feed out of what is kept; what is not there yet is asked for first."""

    def __init__(
        self, kept: Kept, who: Sequence[str], model: Model, feed: Feed, names: Sequence[str], ask: Ask,
        label: str, tick: Callable[[], None],
    ) -> None:  # fmt: skip
        rows = feed.features.rows
        self.lengths, self.per_token = rows.ids.lengths, model.anatomy.per_token
        self.sizes = {name: numbers(model.anatomy, name, self.lengths.astype(np.int64)) for name in names}
        self.blocks = blocks(len(self.lengths))
        self.parts: list[dict[str, np.ndarray]] = []
        self.starts = {name: [_starts(self.sizes[name][block.start : block.stop]) for block in self.blocks] for name in names}  # fmt: skip
        with (
            PartialState(cpu=feed.device.type == "cpu").main_process_first(),  # others then find it there
            progress(label, len(self.lengths)) as update,
        ):
            for block in self.blocks:
                tick()
                ids, types = (_flat(part, block) for part in (rows.ids, rows.types))
                keys = {name: key_of(who, name, ids, types, self.lengths[block.start : block.stop]) for name in names}
                self.parts.append(self._block(kept, keys, block, ask))
                update(block.stop, "texts read")

    def _block(self, kept: Kept, keys: dict[str, str], block: range, ask: Ask) -> dict[str, np.ndarray]:
        found = {name: kept.find(key) for name, key in keys.items()}
        missing = [name for name, part in found.items() if part is None]
        if not missing:
            return found  # type: ignore[return-value]
        whole = {name: np.empty(int(self.sizes[name][block.start : block.stop].sum()), np.float32) for name in missing}
        for number, said in enumerate(ask(block)):
            for name in missing:
                starts = self.starts[name][block.start // len(self.blocks[0])]
                whole[name][starts[number] : starts[number + 1]] = said[name].reshape(-1)
        return {name: part if part is not None else kept.put(keys[name], whole[name]) for name, part in found.items()}

    def __call__(self, sequences: Sequence[int]) -> Iterator[Said]:
        size = len(self.blocks[0]) if self.blocks else 1
        for sequence in sequences:
            block, number = divmod(sequence, size)
            yield {
                name: shaped(part[slice(*self.starts[name][block][number : number + 2])], name, int(self.lengths[sequence]), self.per_token)
                for name, part in self.parts[block].items()
            }  # fmt: skip


def in_batches(model: Model, feed: Feed, precision: str) -> Ask:
    """Logits alone, from torch, in batches of like length: a block has the same company whenever it is asked for."""

    def ask(sequences: Sequence[int]) -> Iterator[Said]:
        chosen = np.asarray(sequences)
        logits = logits_of(model, feed, precision, chosen)
        if not model.anatomy.per_token:
            return ({LOGITS: one} for one in logits)
        ends = np.cumsum(feed.features.rows.ids.lengths[chosen])[:-1]
        return ({LOGITS: one} for one in np.split(logits, ends))

    return ask


def beside(model: Model, feed: Feed, names: Iterable[str], precision: str) -> Callable[[Batch], Outputs]:
    """On a graphics card: the teacher runs on the student's batches, and nothing is kept."""
    needs = frozenset({"hidden": HIDDEN, "scores": SCORES}.get(name.split(".")[0], STATES) for name in names)
    anatomy = model.anatomy

    @torch.no_grad()
    def answer(batch: Batch) -> Outputs:
        with autocast(precision, feed.device):
            return forward(model.network, anatomy, feed.batch(batch.rows.numpy()), needs)

    return answer


def bytes_of(model: Model, feed: Feed, names: Iterable[str]) -> int:
    """Disk that keeping takes."""
    lengths = feed.features.rows.ids.lengths.astype(np.int64)
    return 4 * sum(int(numbers(model.anatomy, name, lengths).sum()) for name in names)


def _starts(sizes: np.ndarray) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(sizes)])


def _flat(ragged: Ragged, block: range) -> np.ndarray:
    return ragged.values[ragged.starts[block.start] : ragged.starts[block.stop]]
