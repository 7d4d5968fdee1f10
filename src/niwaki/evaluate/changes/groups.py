"""Groups of rows that may pay more for compression than the average: by class, length, rare words, negation, spelling, a user's column.

A group is a name and a mask of rows; groups of one kind may overlap.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from niwaki.answers._answer_type import EncodedInputs, Value

MAX_CLASSES, MAX_VALUES = 30, 50
QUARTERS = 4
RARE = 10  # rows
SPLIT_INTO = 4  # tokens of a word that the tokenizer hardly knows
NEGATION = re.compile(
    r"\b(?:not|no|never|none|nobody|nothing|nowhere|neither|nor|without|hardly|barely|scarcely|cannot)\b|n['’] ?t\b",
    re.IGNORECASE,
)
WORD = re.compile(r"\w+", re.UNICODE)


@dataclass(frozen=True)
class Group:
    kind: str
    name: str
    rows: np.ndarray  # (rows,) mask


def by_class(gold: Sequence[Value]) -> list[Group]:
    """Rows by their correct answer: a label, or each of a list of labels or tags. Answers that are hardly ever the same are no classes."""
    cells = [{str(one) for one in value} if isinstance(value, list) else {str(value)} for value in gold]
    plain = all(isinstance(one, str | int) for value in gold for one in (value if isinstance(value, list) else [value]))
    names = sorted(set().union(*cells)) if plain else []
    if not 2 <= len(names) <= min(MAX_CLASSES, max(2, len(gold) // 2)):
        return []
    return [Group("class", name, np.array([name in cell for cell in cells])) for name in names]


def by_length(encoded: EncodedInputs) -> list[Group]:
    """Quarters of the rows by the number of tokens."""
    return quarters("length", tokens_of(encoded).astype(float), "tokens")


def tokens_of(encoded: EncodedInputs) -> np.ndarray:
    """(inputs,) tokens of all sequences of each input."""
    return np.bincount(encoded.input_index, encoded.ids.lengths, minlength=encoded.inputs).astype(np.int64)


def quarters(kind: str, values: np.ndarray, unit: str = "") -> list[Group]:
    """Rows by the quartiles of a number; equal numbers stay together. Rows without one (nan) are in no group."""
    known = values[np.isfinite(values)]
    edges = np.unique(np.quantile(known, np.arange(1, QUARTERS) / QUARTERS)) if len(known) else np.zeros(0)
    number = np.where(np.isfinite(values), np.searchsorted(edges, values, side="left"), -1)
    masks = [number == part for part in range(len(edges) + 1)]
    groups = [Group(kind, span_of(values[mask], unit), mask) for mask in masks if mask.any()]
    return groups if len(groups) > 1 else []


def span_of(values: np.ndarray, unit: str) -> str:
    low, high = (f"{end:g}" for end in (values.min(), values.max()))
    return f"{low if low == high else f'{low} to {high}'} {unit}".rstrip()


def by_rarity(rows: Sequence[Sequence[str]], known: Iterable[Sequence[str]], included: bool, where: str) -> list[Group]:
    """Rows (lists of texts) by how many of the known rows hold their rarest word. `included`: the rows are among the known ones, and
    do not count for themselves."""
    counts = Counter(word for texts in known for word in words_of(texts))
    rarest = np.array(
        [min((counts[word] - included for word in words_of(texts)), default=RARE) for texts in rows], dtype=np.int64
    )
    masks = {
        f"a word in no {where} row": rarest <= 0,
        f"rarest word in 1 to {RARE - 1} {where} rows": (rarest > 0) & (rarest < RARE),
        f"all words in {RARE} {where} rows or more": rarest >= RARE,
    }
    return some("rare words", masks)


def words_of(texts: Sequence[str]) -> set[str]:
    return {word for text in texts for word in WORD.findall(text.casefold())}


def by_negation(rows: Sequence[Sequence[str]]) -> list[Group]:
    """Rows with an English negation and without."""
    found = np.array([any(NEGATION.search(text) for text in texts) for texts in rows], dtype=bool)
    return some("negation", {"with negation": found, "without negation": ~found})


def by_spelling(before: EncodedInputs, after: EncodedInputs, words: Sequence[int], unknown: int | None) -> list[Group]:
    """Rows that the tokenizers hardly know: with many tokens for a word, as typos and names have, with tokens that only the second
    model lacks, and with more tokens in the second model. `words` (inputs,) are counted by spaces."""
    tokens = [tokens_of(encoded) for encoded in (before, after)]
    masks = {
        "more tokens in B than in A": tokens[1] > tokens[0],
        "unknown token in B alone": _has(after, unknown) & ~_has(before, unknown),
    }
    per_word = tokens[0] / np.maximum(1, np.asarray(words))
    many = per_word > np.quantile(per_word, 0.9) if len(per_word) else np.zeros(0, dtype=bool)
    return some("spelling", {"a tenth with most tokens per word": many, **masks})


def _has(encoded: EncodedInputs, token: int | None) -> np.ndarray:
    if token is None:
        return np.zeros(encoded.inputs, dtype=bool)
    rows = np.repeat(encoded.input_index, encoded.ids.lengths)
    return np.bincount(rows, encoded.ids.values == token, minlength=encoded.inputs) > 0


def by_column(name: str, cells: Sequence[object]) -> list[Group]:
    """Rows by the cells of a column: quartiles of numbers with many values, otherwise each value, the rarest ones together."""
    numbers = [cell for cell in cells if isinstance(cell, int | float) and not isinstance(cell, bool)]
    if len(set(numbers)) > MAX_VALUES and len(numbers) + list(cells).count(None) == len(cells):
        return quarters(name, np.array([np.nan if cell is None else cell for cell in cells], dtype=np.float64))
    texts = ["(empty)" if cell is None or cell == "" else str(cell) for cell in cells]
    frequent = [value for value, _ in Counter(texts).most_common(MAX_VALUES)]
    masks: Mapping[str, np.ndarray] = {
        value: np.array([text == value for text in texts], dtype=bool) for value in sorted(frequent)
    }
    rest = np.array([text not in masks for text in texts], dtype=bool)
    return [*_groups(name, masks), *([Group(name, "(all others)", rest)] if rest.any() else [])]


def some(kind: str, masks: Mapping[str, np.ndarray]) -> list[Group]:
    """The groups that have rows; none if one has all of them and so says nothing."""
    found = [group for group in _groups(kind, masks) if group.rows.any()]
    return [group for group in found if not group.rows.all()]


def _groups(kind: str, masks: Mapping[str, np.ndarray]) -> Iterator[Group]:
    return (Group(kind, name, mask) for name, mask in masks.items())
