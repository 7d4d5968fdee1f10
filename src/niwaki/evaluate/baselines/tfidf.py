"""TF-IDF of words, or of words and pairs of words, and a linear SVM: the better one on the validation rows."""

from collections.abc import Iterator, Sequence
from typing import ClassVar

import numpy as np

from niwaki.answers._answer_type import Input
from niwaki.evaluate.baseline import Baseline, PredictFunction
from niwaki.evaluate.baselines._linear import LinearModel, Matrix
from niwaki.evaluate.baselines._nearest import Nearest
from niwaki.evaluate.baselines._question_features import QuestionFeatures
from niwaki.evaluate.baselines._spans import SpanModel
from niwaki.evaluate.baselines._unsupported import NO_LABELS, NO_VECTORS
from niwaki.evaluate.baselines._word_features import WordFeatures

MAX_PREDICATES = 3000  # rows for roles: a linear model for each of a hundred tags
MAX_WEIGHTS = 50_000_000  # words × labels of a model


class TfIdf(Baseline):
    name = "TF-IDF + linear SVM"
    unsupported: ClassVar[dict[str, str]] = {"senses": NO_LABELS, "embedding": NO_VECTORS}

    def fit(self) -> PredictFunction:
        train = self.train()
        if self.task.answer == "span":
            self.name = "shared words and shapes + linear model"
            return SpanModel(self.task, train, QuestionFeatures(set(self.task.texts(train))))
        if self.task.answer == "tags":
            self.name = "words, endings, shapes + linear SVM"
            return LinearModel(self.task, train, [WordFeatures()])
        if self.task.answer == "roles":
            self.name = "words, endings, shapes, the predicate + linear SVM"
            self.max_rows = MAX_PREDICATES
            return LinearModel(self.task, self.train(), [WordFeatures()])
        if self.task.answer in ("text", "verified"):
            self.name = "TF-IDF + nearest neighbour"
            return Nearest(self.task, train, TextFeatures(1, MAX_WEIGHTS))
        if self.task.answer == "number":
            self.name = "TF-IDF + ridge regression"
        most = MAX_WEIGHTS // len(self.task.labels)
        return LinearModel(self.task, train, [TextFeatures(longest, most) for longest in (1, 2)])


class TextFeatures:
    """TF-IDF features. A pair of texts also gets shared words, differing words and overlap measures, which a joint bag of words
    does not contain."""

    def __init__(self, longest: int, most: int) -> None:
        from sklearn.feature_extraction.text import TfidfVectorizer

        self.words = TfidfVectorizer(
            ngram_range=(1, longest), sublinear_tf=longest > 1, token_pattern=r"(?u)\b\w+\b|[^\w\s]", max_features=most
        )

    def fit(self, inputs: Sequence[Input]) -> Matrix:
        self.words.fit(each(inputs))
        return self.transform(inputs)

    def transform(self, inputs: Sequence[Input]) -> Matrix:
        from scipy import sparse

        if isinstance(inputs[0], str):
            return self.words.transform(inputs)
        a, b = (self.words.transform([pair[side] for pair in inputs]) for side in (0, 1))
        return sparse.hstack([a, b, abs(a - b), a.multiply(b), sparse.csr_matrix(shared(a, b))], format="csr")


def shared(a: Matrix, b: Matrix) -> np.ndarray:
    """(rows, 5): cosine, the share of each side's words in the other, of all words, and the relative difference of lengths."""
    both, of_a, of_b = (np.asarray((x > 0).sum(axis=1), dtype=float).ravel() for x in (a.multiply(b), a, b))
    ratios = [(both, of_a), (both, of_b), (both, of_a + of_b - both), (abs(of_a - of_b), of_a + of_b)]
    cosine = np.asarray(a.multiply(b).sum(axis=1)).ravel()
    return np.stack([cosine, *(part / np.maximum(whole, 1) for part, whole in ratios)], axis=1)


def each(inputs: Sequence[Input]) -> Iterator[str]:
    for given in inputs:
        yield from (given,) if isinstance(given, str) else given
