"""What a word looks like and stands next to, as sparse features: for tags and roles."""

from collections.abc import Iterator, Sequence

import numpy as np

from niwaki.answers._answer_type import Input
from niwaki.answers.roles import split
from niwaki.evaluate.baselines._linear import Matrix

FAR = 6  # distances from the predicate are clipped to this
HASHED = 1 << 18  # features: names are hashed to so many columns


class WordFeatures:
    """A row for each word of each sentence; with a marked predicate, also its relation to it."""

    def fit(self, inputs: Sequence[Input]) -> Matrix:
        return self.transform(inputs)

    def transform(self, inputs: Sequence[Input]) -> Matrix:
        from sklearn.feature_extraction import FeatureHasher

        hasher = FeatureHasher(HASHED, input_type="string", alternate_sign=False)
        return hasher.transform(seen for given in inputs for seen in predicate_features(*split(given)))


def predicate_features(words: Sequence[str], predicate: int | None) -> Iterator[list[str]]:
    """Features of each word, its side of the predicate and its distance; all of it combined with the predicate too."""
    if predicate is None:
        yield from word_features(words)
        return
    own = words[predicate].lower()
    for at, seen in enumerate(word_features(words)):
        side = min(max(at - predicate, -FAR), FAR)
        between = " ".join(words[min(at, predicate) + 1 : max(at, predicate)][:3]).lower()
        yield [
            *(f"{feature} {'<=>'[np.sign(at - predicate) + 1]}" for feature in seen),
            f"at {side}",
            f"at {side} of {own}",
            f"of {own}",
            f"{side} over {between}",
        ]


def word_features(words: Sequence[str]) -> Iterator[list[str]]:
    """The word, its beginnings and endings, its shape; words and shapes to both sides."""
    padded = ["", "", *words, "", ""]
    lower, shapes = [word.lower() for word in padded], [shape(word) for word in padded]
    for at in range(2, len(padded) - 2):
        word = lower[at]
        seen = [f"is {padded[at]}", f"word {word}", f"shape {shapes[at]}"]
        seen += [f"starts {word[:size]}" for size in (1, 2, 3)] + [f"ends {word[-size:]}" for size in (1, 2, 3)]
        seen += [f"word{step} {lower[at + step]}" for step in (-2, -1, 1, 2)]
        seen += [f"shape{step} {shapes[at + step]}" for step in (-1, 1)]
        yield [*seen, f"shapes {shapes[at - 1]} {shapes[at]} {shapes[at + 1]}", f"before {lower[at - 1]} {shapes[at]}"]


def shape(word: str) -> str:
    """`Tokyo` → `Xx`, `B-52` → `X-d`: kinds of characters, each run once."""
    kinds = ("X" if c.isupper() else "x" if c.islower() else "d" if c.isdigit() else c for c in word[:20])
    found: list[str] = []
    for kind in kinds:
        if not found or found[-1] != kind:
            found.append(kind)
    return "".join(found)
