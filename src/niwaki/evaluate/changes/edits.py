"""Small edits of a text that keep its meaning: a typo, another case, punctuation, a second space, a word less.

Paper: Ribeiro et al. 2020, CheckList (arXiv 2005.04118). An edit is a function of a text and a generator; None if the text has no place
for it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from niwaki.answers._answer_type import Input

LEAST_LETTERS, LEAST_WORDS = 4, 3
ENDS = ".!?"
Change = Callable[[str, np.random.Generator], str | None]


def typo(text: str, draw: np.random.Generator) -> str | None:
    """Two letters inside one word swapped."""
    words = text.split(" ")
    places = [
        (number, at)
        for number, word in enumerate(words)
        if len(word) >= LEAST_LETTERS and word.isalpha()
        for at in range(1, len(word) - 2)
        if word[at] != word[at + 1]
    ]
    if not places:
        return None
    number, at = places[int(draw.integers(len(places)))]
    word = words[number]
    words[number] = word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    return " ".join(words)


def case(text: str, draw: np.random.Generator) -> str | None:
    """One word in capitals, or a word in capitals in small letters."""
    words = text.split(" ")
    places = [number for number, word in enumerate(words) if word.upper() != word or word.lower() != word]
    if not places:
        return None
    number = places[int(draw.integers(len(places)))]
    larger = words[number].upper()
    words[number] = larger if larger != words[number] else words[number].lower()
    return " ".join(words)


def punctuation(text: str, draw: np.random.Generator) -> str | None:
    """The mark at the end dropped, or a full stop added."""
    bare = text.rstrip()
    shorter = bare.rstrip(ENDS).rstrip()
    return (shorter or None) if shorter != bare else f"{bare}."


def whitespace(text: str, draw: np.random.Generator) -> str | None:
    """One space doubled."""
    places = [at for at, sign in enumerate(text) if sign == " "]
    if not places:
        return None
    at = places[int(draw.integers(len(places)))]
    return text[:at] + " " + text[at:]


def word_dropped(text: str, draw: np.random.Generator) -> str | None:
    """One word left out."""
    words = text.split()
    if len(words) < LEAST_WORDS:
        return None
    del words[int(draw.integers(len(words)))]
    return " ".join(words)


@dataclass(frozen=True)
class EditKind:
    change: Change
    of_words: bool = False  # also possible within a list of words, whose number stays


EDITS: Mapping[str, EditKind] = {
    "typo": EditKind(typo, of_words=True),
    "case": EditKind(case, of_words=True),
    "punctuation": EditKind(punctuation),
    "whitespace": EditKind(whitespace),
    "word dropped": EditKind(word_dropped),
}


def edited(given: Input, kind: EditKind, draw: np.random.Generator) -> Input | None:
    """An input with its text changed: of a pair the first text, of a list of words one word. None if there is no place for the edit."""
    if isinstance(given, str):
        return kind.change(given, draw)
    if isinstance(given, tuple) and given and isinstance(given[0], str):
        first = kind.change(given[0], draw)
        return None if first is None else (first, *given[1:])
    if isinstance(given, list) and given and all(isinstance(word, str) for word in given) and kind.of_words:
        return _with_one_word(given, kind, draw)
    return None


def _with_one_word(words: list[str], kind: EditKind, draw: np.random.Generator) -> list[str] | None:
    for number in draw.permutation(len(words)).tolist():
        found = kind.change(words[number], draw)
        if found is not None:
            return [*words[:number], found, *words[number + 1 :]]
    return None
