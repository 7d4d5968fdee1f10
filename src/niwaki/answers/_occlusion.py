"""Leaves out the words of an input one at a time, to see which of them an answer depends on (Li et al. 2016, arXiv 1612.08220).

`niwaki look` compares the logits of the shortened inputs; the server's playground compares their answers.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from niwaki.core.json_types import Json

if TYPE_CHECKING:  # the server's own process reads no texts and loads no tokenizer
    from niwaki.answers._answer_type import Input

WORD = re.compile(r"\S+")


@dataclass(frozen=True)
class Word:
    text: str
    side: int  # number of the text of a pair; 0 for single texts
    start: int  # characters of its text; of a list of words, its place
    end: int


def words_of(given: "Input") -> list[Word]:
    """The words of a text, of both texts of a pair, or of a list of words."""
    if isinstance(given, str):
        return [Word(found[0], 0, *found.span()) for found in WORD.finditer(given)]
    if isinstance(given, tuple):
        sides = [words_of(text) for text in given]
        return [Word(word.text, side, word.start, word.end) for side, words in enumerate(sides) for word in words]
    return [Word(text, 0, place, place + 1) for place, text in enumerate(given)]


def without(given: "Input", word: Word) -> "Input":
    """The input without one of its words.

    >>> without("a fine film", Word("fine", 0, 2, 6))
    'a film'
    """
    if isinstance(given, str):
        return " ".join((given[: word.start] + " " + given[word.end :]).split())
    if isinstance(given, tuple):
        return tuple(without(text, word) if side == word.side else text for side, text in enumerate(given))
    return [*given[: word.start], *given[word.end :]]


def can_be_left_out(given: "Input") -> list[Word]:
    """The words without which something is left of their text."""
    words = words_of(given)
    sides = [word.side for word in words]
    return [word for word in words if sides.count(word.side) > 1]


def support(answer: Json, whole: Json) -> float | None:
    """How much an answer speaks for what another one chose: a probability, a number, or a cosine; None where there is no such number."""
    if "label" in whole:
        return _numbers(answer["probabilities"])[str(whole["label"])]
    if "labels" in whole:
        found = _numbers(answer["probabilities"])
        return sum(found[name] for name in found if name in whole["labels"])
    if "value" in whole:
        return float(answer["value"])
    if "embedding" in whole:
        return sum(one * other for one, other in zip(answer["embedding"], whole["embedding"], strict=True))
    return None


def changes(whole: Json, rest: Sequence[Json]) -> list[float] | None:
    """How much each left-out word had supported the whole answer: positive numbers speak for it."""
    full = support(whole, whole)
    if full is None:
        return None
    return [full - (support(answer, whole) or 0.0) for answer in rest]


def _numbers(found: object) -> Mapping[str, float]:
    assert isinstance(found, Mapping)
    return found
