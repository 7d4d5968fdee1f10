"""n-gram language models over token ids: interpolated modified Kneser-Ney smoothing (Chen and Goodman 1999), on sorted numpy arrays.

An n-gram is stored as one number: the number of its first n - 1 tokens among the n-grams of the order below, times the size of the
vocabulary, plus its last token. The numbers of an order are sorted, so a lookup is a binary search, for all places of a text at once.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from niwaki.core.files import commit_folder, write_json

ORDER = 5
FALLBACK = (0.5, 1.0, 1.5)  # discounts of counts 1, 2 and more, where the counts of counts give none


@dataclass
class Grams:
    """The n-grams of one order, and their contexts, which are the n-grams of the order below."""

    keys: np.ndarray  # (n-grams,) int64, sorted
    counts: np.ndarray  # (n-grams,) int32: raw in the highest order, else the number of different tokens before
    discounts: np.ndarray  # (4,): of counts 0, 1, 2 and more
    totals: np.ndarray  # (contexts,) float32: sums of counts
    backoffs: np.ndarray  # (contexts,) float32: probability that is left for the order below

    def alpha(self, number: np.ndarray, context: np.ndarray) -> np.ndarray:
        """The discounted probability of n-grams by number; 0 for -1."""
        counts = np.where(number >= 0, self.counts[number], 0)
        return (counts - self.discounts[np.minimum(counts, 3)]) / self.totals[context]


@dataclass
class NgramModel:
    vocabulary_size: int
    predictable: int  # tokens that can follow; all have some probability
    grams: list[Grams]  # by order, from 1

    def log_probabilities(self, tokens: np.ndarray, starts: np.ndarray) -> np.ndarray:
        """Of every token from those before it in its sequence; 0 at the first token of each. `tokens` are the sequences one behind the
        other, `starts` where they begin. The first token of a sequence is only read."""
        probability = np.full(len(tokens), 1 / self.predictable)
        place = places_in(len(tokens), starts)
        context = np.zeros(len(tokens), dtype=np.int64)  # number of the n-gram that ends before each token; -1: unknown
        for order, grams in enumerate(self.grams, start=1):
            context[place < order - 1] = -1
            known = np.flatnonzero(context >= 0)
            known = known[grams.totals[context[known]] > 0]
            number = np.full(len(tokens), -1, dtype=np.int64)
            readable = np.flatnonzero(context >= 0)
            number[readable] = find(grams.keys, context[readable] * self.vocabulary_size + tokens[readable])
            here = context[known]
            probability[known] = grams.alpha(number[known], here) + grams.backoffs[here] * probability[known]
            context = np.concatenate([[-1], number[:-1]]) if len(tokens) else number
        return np.where(place > 0, np.log(probability), 0.0)

    @property
    def size(self) -> int:
        """Stored n-grams of all orders."""
        return sum(len(grams.keys) for grams in self.grams)

    def save(self, folder: Path) -> None:
        with commit_folder(folder) as inside:
            shape = {"vocabulary_size": self.vocabulary_size, "predictable": self.predictable, "order": len(self.grams)}
            write_json(inside / "ngrams.json", shape)
            for order, grams in enumerate(self.grams, start=1):
                for name, array in vars(grams).items():
                    np.save(inside / f"{order}-{name}.npy", array, allow_pickle=False)


def train(documents: Iterable[npt.ArrayLike], vocabulary_size: int, predictable: int, order: int = ORDER) -> NgramModel:
    """Of documents as token ids, each with a token that begins a text; that token occurs nowhere else."""
    parts = [np.asarray(document, dtype=np.int32) for document in documents]
    tokens = np.concatenate([np.zeros(0, np.int32), *parts])
    place = places_in(len(tokens), np.cumsum([0, *(len(part) for part in parts)])[:-1])
    found: list[Grams] = []
    below: Order | None = None
    context, contexts = np.zeros(len(tokens), dtype=np.int64), 1
    for number in range(1, order + 1):
        current = Order.of(tokens, place, context, vocabulary_size, number)
        if below is not None:
            found.append(smoothed(below, below.continuations(current), vocabulary_size))
        current.contexts, below = contexts, current
        context, contexts = np.concatenate([[-1], current.ids[:-1]]) if len(tokens) else context, len(current.keys)
    assert below is not None
    found.append(smoothed(below, below.raw, vocabulary_size))
    return NgramModel(vocabulary_size, predictable, found)


@dataclass
class Order:
    """The n-grams of one order while a model is trained."""

    keys: np.ndarray  # (n-grams,)
    ids: np.ndarray  # (tokens,) the n-gram that ends at each place; -1 where a document has just begun
    first: np.ndarray  # (n-grams,) a place where each ends
    raw: np.ndarray  # (n-grams,)
    begins: np.ndarray  # (n-grams,) whether it begins a document
    contexts: int = 1

    @staticmethod
    def of(tokens: np.ndarray, place: np.ndarray, context: np.ndarray, vocabulary_size: int, order: int) -> "Order":
        ends = np.flatnonzero(place >= order - 1)
        keys, first, inverse, raw = np.unique(
            context[ends] * vocabulary_size + tokens[ends], return_index=True, return_inverse=True, return_counts=True
        )
        ids = np.full(len(tokens), -1, dtype=np.int64)
        ids[ends] = inverse
        first = ends[first]
        return Order(keys, ids, first, raw, place[first] == order - 1)

    def continuations(self, above: "Order") -> np.ndarray:
        """How many different tokens are before each n-gram. Before one that begins a document there is none: its count stays; but
        the token that begins a text is never predicted."""
        counts = np.bincount(self.ids[above.first], minlength=len(self.keys))
        alone = self.begins if self.contexts > 1 else np.zeros(len(self.keys), dtype=bool)
        return np.where(alone, self.raw, counts)


def smoothed(order: Order, counts: np.ndarray, vocabulary_size: int) -> Grams:
    counts = counts.astype(np.int32)
    discounts = discounts_of(counts)
    context = order.keys // vocabulary_size
    totals = np.bincount(context, counts, order.contexts)
    left = np.bincount(context, discounts[np.minimum(counts, 3)], order.contexts)
    backoffs = np.divide(left, totals, out=np.ones_like(left), where=totals > 0)
    return Grams(order.keys, counts, discounts, totals.astype(np.float32), backoffs.astype(np.float32))


def discounts_of(counts: np.ndarray) -> np.ndarray:
    """Of counts 0, 1, 2 and more: k - (k + 1) Y t(k+1) / t(k), with Y = t1 / (t1 + 2 t2) and t(k) the n-grams of count k."""
    seen = np.bincount(np.minimum(counts, 5), minlength=6)[1:5].astype(np.float64)
    if not seen.all():
        return np.array([0.0, *FALLBACK])
    share = seen[0] / (seen[0] + 2 * seen[1])
    found = [k - (k + 1) * share * seen[k] / seen[k - 1] for k in (1, 2, 3)]
    sound = all(0 < value <= k for k, value in enumerate(found, start=1))
    return np.array([0.0, *(found if sound else FALLBACK)])


def places_in(count: int, starts: np.ndarray) -> np.ndarray:
    """(tokens,) the place of each token in its sequence."""
    lengths = np.diff(np.append(starts, count))
    return np.arange(count) - np.repeat(starts, lengths)


def find(keys: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Places of values among sorted keys; -1 where they are not there."""
    if not len(keys):
        return np.full(len(wanted), -1, dtype=np.int64)
    at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[at] == wanted, at, -1)
