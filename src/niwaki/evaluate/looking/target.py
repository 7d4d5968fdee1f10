"""The number that attributions explain: a difference of logits, a value, or a cosine, of the answer that the model gives.

A head with one output for each label is explained by the logit of its answer less that of the runner-up, so that what speaks for both
cancels out.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from niwaki.answers._fill import Masks
from niwaki.answers._occlusion import Word

SEQUENCE, WORD, MASK, LAST = "sequence", "word", "mask", "last"


@dataclass(frozen=True)
class Margin:
    """Logits at a place of the sequence: of one output, less that of another one if there is."""

    what: str
    plus: int
    minus: int = -1
    at: str = SEQUENCE
    word: int = -1  # of a tagged sentence

    def __call__(self, logits: Tensor, note: object) -> Tensor:
        """Logits (…, labels) or (…, tokens, labels) of sequences with this note to (…)."""
        rows = logits if self.at == SEQUENCE else logits[..., self._place(note), :]
        found = rows[..., self.plus]
        return found if self.minus < 0 else found - rows[..., self.minus]

    def _place(self, note: object) -> int:
        if self.at == MASK:
            assert isinstance(note, Masks)
            return note.places[0]
        if self.at == WORD:
            assert isinstance(note, tuple)
            return int(note[1][self.word - note[0]])
        return -1

    def without(self, word: Word) -> "Margin":
        """The same where this word was left out."""
        return replace(self, word=self.word - 1) if self.at == WORD and word.start < self.word else self


@dataclass(frozen=True)
class Similarity:
    """The cosine with the embedding of the whole text."""

    what: str
    embedding: Tensor

    def __call__(self, logits: Tensor, note: object) -> Tensor:
        return functional.cosine_similarity(logits, self.embedding, dim=-1)

    def without(self, word: Word) -> "Similarity":
        return self


@dataclass(frozen=True)
class SpanScore:
    """The logits of where an answer begins and ends."""

    what: str
    first: int
    last: int

    def __call__(self, logits: Tensor, note: object) -> Tensor:
        return logits[..., self.first, 0] + logits[..., self.last, 1]

    def without(self, word: Word) -> "SpanScore":
        raise NotImplementedError  # the answer moves


Target = Margin | Similarity | SpanScore


def target_of(
    kind: str,
    logits: Tensor,
    note: object,
    labels: Sequence[str],
    name: Callable[[int], str],
    word: int = -1,
) -> Target | None:
    """What to explain of an answer of this kind, from the logits of its sequence; None where there is no single number.
    `name` gives the text of a token; `word` is the tagged word to explain, -1 chooses one."""
    if kind == "label":
        return _margin(logits, labels.__getitem__)
    if kind == "labels":
        best = int(logits.argmax())
        return Margin(f"logit of '{labels[best]}'", best)
    if kind == "number":
        return Margin("value", 0)
    if kind == "choice":
        return Margin("score of the chosen ending", 0)
    if kind == "embedding":
        return Similarity("cosine with the embedding of the whole text", logits.detach())
    if kind == "tags":
        return _tagged(logits, note, labels, word)
    if kind == "fill":
        assert isinstance(note, Masks)
        return replace(_margin(logits[note.places[0]], name), at=MASK)
    if kind == "next":
        return replace(_margin(logits[-1], name), at=LAST)
    return None


def _margin(row: Tensor, name: Callable[[int], str]) -> Margin:
    if len(row) < 2:
        return Margin(f"logit of '{name(0)}'", 0)
    first, second = (int(one) for one in torch.topk(row, 2).indices)
    return Margin(f"logit of '{name(first)}' less that of '{name(second)}'", first, second)


def _tagged(logits: Tensor, note: object, labels: Sequence[str], word: int) -> Margin | None:
    """Of the word that is named, else of the first one whose tag is not 'O', else of the least certain one."""
    assert isinstance(note, tuple)
    first, places = note[0], np.asarray(note[1])
    real = [number for number in range(len(places)) if places[number] >= 0]
    if not real:
        return None
    rows = logits[torch.from_numpy(places[real]).long()]
    top = torch.topk(rows, min(2, rows.shape[1])).values
    inside = [at for at, tag in enumerate(rows.argmax(dim=1).tolist()) if labels[tag] != "O"]
    at = inside[0] if inside else int((top[:, 0] - top[:, -1]).argmin())
    if word >= 0:
        if word - first not in real:
            return None
        at = real.index(word - first)
    return replace(_margin(rows[at], labels.__getitem__), at=WORD, word=first + real[at])
