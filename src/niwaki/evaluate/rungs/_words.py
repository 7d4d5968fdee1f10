"""What a word looks like and stands beside, as sparse features: for tags."""

from collections.abc import Iterator, Sequence

from niwaki.answers._kind import Input
from niwaki.evaluate.rungs._linear import Matrix

HASHED = 1 << 18  # features: names are hashed to so many columns


class WordFeatures:
    """A row for each word of each sentence."""

    def fit(self, inputs: Sequence[Input]) -> Matrix:
        return self.of(inputs)

    def of(self, inputs: Sequence[Input]) -> Matrix:
        from sklearn.feature_extraction import FeatureHasher

        hasher = FeatureHasher(HASHED, input_type="string", alternate_sign=False)
        return hasher.transform(seen for words in inputs for seen in looks(words))


def looks(words: Sequence[str]) -> Iterator[list[str]]:
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
    """`Tokyo` → `Xx`, `B-52` → `X-d`: kinds of characters, each stretch once."""
    kinds = ("X" if c.isupper() else "x" if c.islower() else "d" if c.isdigit() else c for c in word[:20])
    found: list[str] = []
    for kind in kinds:
        if not found or found[-1] != kind:
            found.append(kind)
    return "".join(found)
