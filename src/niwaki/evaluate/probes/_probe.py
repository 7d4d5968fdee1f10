"""A probing task: examples with labels from annotated sentences, which a linear classifier predicts from the states of one layer."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from niwaki.core.catalog import Catalog

PROBES = Catalog("niwaki.evaluate.probes", what="probe")
Sentence = Mapping[str, Sequence[object]]  # columns of a row: `tokens`, and lists of the same length


@dataclass(frozen=True)
class Example:
    """`places` are the words whose states are read: one, two for a pair, none for the mean over the sentence."""

    sentence: int
    places: tuple[int, ...]
    label: str
    type: str  # in the control task, equal types have equal labels


class Probe:
    """Base of the files in `evaluate/probes/`."""

    columns: ClassVar[tuple[tuple[str, ...], ...]] = ()  # that are read besides the words; alternatives by their names

    def examples(self, sentences: Sequence[Sentence]) -> Iterator[Example]:
        """Examples of all sentences, in their order."""
        raise NotImplementedError


def column(sentence: Sentence, names: Sequence[str]) -> Sequence[object]:
    """The column of the first of these names that a sentence has."""
    return next((sentence[name] for name in names if sentence.get(name)), [])


def numbers(values: Sequence[object]) -> list[int]:
    """Heads as CoNLL-U counts them, from 1; 0 is the root. Empty where one is no number of a word."""
    texts = [str(value) for value in values]
    found = [int(text) for text in texts if text.isascii() and text.isdigit()]
    return found if len(found) == len(texts) and all(head <= len(texts) for head in found) else []


def depths(heads: Sequence[int]) -> list[int] | None:
    """The depth of each word in its tree, 0 for the root; None where the heads form no tree."""
    found: list[int] = []
    for word in range(len(heads)):
        depth, at = 0, word
        while heads[at]:
            at, depth = heads[at] - 1, depth + 1
            if depth > len(heads):
                return None
        found.append(depth)
    return found
