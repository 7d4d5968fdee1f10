"""Linear models on features, for every answer type except spans."""

import warnings
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from niwaki.answers._answer_type import Input, Value, chunked
from niwaki.answers.roles import split
from niwaki.models import linear_model
from niwaki.models.linear_model import MANY_LABELS, STRENGTHS
from niwaki.tasks._task import Task

SPARSE = (0.1, 1.0)  # inverse penalties, the strongest penalty first
Matrix = Any  # (rows, features): an array, or a sparse matrix
Predict = Callable[[Matrix, Sequence[Input]], list[Value]]


class Features(Protocol):
    """Features of inputs: a row for each text or pair of texts; a row for each word of lists of words."""

    def fit(self, inputs: Sequence[Input]) -> Matrix:
        """Fits on the train rows and returns their features."""

    def transform(self, inputs: Sequence[Input]) -> Matrix: ...


class LinearModel:
    """Predicts with the features and the penalty that were best on the validation rows."""

    def __init__(self, task: Task, train: pa.Table, tried: Iterable[Features]) -> None:
        validation = task.splits()["validation"]
        self.inputs = task.inputs(validation)  # their predictions are kept
        self.best = -np.inf
        inputs, gold = task.inputs(train), task.gold(train)
        for features in tried:
            train_matrix = features.fit(items(inputs))
            strengths = STRENGTHS if isinstance(train_matrix, np.ndarray) else SPARSE
            models = [trained(task, train_matrix, inputs, gold, strength) for strength in strengths]
            for predict, values in zip(models, answered(features, models, self.inputs), strict=True):
                score = task.scorer.scores(task.scorer.example_stats(values, validation))[task.metric]
                if score > self.best:
                    self.best, self.validation_values, self.features, self.predict = score, values, features, predict

    def __call__(self, inputs: Sequence[Input]) -> list[Value]:
        return self.validation_values if inputs == self.inputs else answered(self.features, [self.predict], inputs)[0]


def answered(features: Features, models: Sequence[Predict], inputs: Sequence[Input]) -> list[list[Value]]:
    """The predictions of each model for all inputs. Features are computed once, for a chunk of inputs at a time."""
    values: list[list[Value]] = [[] for _ in models]
    for some in chunked(inputs):
        matrix = features.transform(items(some))
        for predict, found in zip(models, values, strict=True):
            found += predict(matrix, some)
    return values


def items(inputs: Sequence[Input]) -> Sequence[Input]:
    """The units that get features: inputs, or for multiple choice each pair of beginning and ending."""
    if inputs and isinstance(inputs[0], tuple) and isinstance(inputs[0][1], list):
        return [(beginning, ending) for beginning, endings in inputs for ending in endings]
    return inputs


def trained(
    task: Task, train_matrix: Matrix, inputs: Sequence[Input], gold: Sequence[Value], strength: float
) -> Predict:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # not converged, or a label without rows: both are fine here
        return KINDS[task.answer](task, train_matrix, inputs, gold, strength)


def label(task: Task, train_matrix: Matrix, inputs: object, gold: Sequence[Value], strength: float) -> Predict:
    if len(set(gold)) == 1:  # can happen in a sample
        return lambda matrix, inputs: [gold[0]] * matrix.shape[0]
    model = classifier(train_matrix, strength, len(task.labels)).fit(train_matrix, gold)
    return lambda matrix, inputs: model.predict(matrix).tolist()


def labels(task: Task, train_matrix: Matrix, inputs: object, gold: Sequence[Value], strength: float) -> Predict:
    from sklearn.multiclass import OneVsRestClassifier

    table = np.array([[name in values for name in task.labels] for values in map(set, gold)], dtype=int)
    model = OneVsRestClassifier(classifier(train_matrix, strength, len(task.labels))).fit(train_matrix, table)
    return lambda matrix, inputs: [
        [name for name, on in zip(task.labels, row, strict=True) if on] for row in np.asarray(model.predict(matrix))
    ]


def number(task: Task, train_matrix: Matrix, inputs: object, gold: Sequence[Value], strength: float) -> Predict:
    """Ridge regression, clipped to the range of the train rows."""
    low, high = min(gold), max(gold)
    mean, scale = float(np.mean(gold)), float(np.std(gold)) or 1.0
    model = linear_model.regressor(strength).fit(train_matrix, (np.asarray(gold) - mean) / scale)
    return lambda matrix, inputs: np.clip(model.predict(matrix) * scale + mean, low, high).astype(float).tolist()


def tags(task: Task, train_matrix: Matrix, inputs: object, gold: Sequence[Value], strength: float) -> Predict:
    """A classifier for single words."""
    of_word = label(task, train_matrix, inputs, [tag for sentence in gold for tag in sentence], strength)
    return lambda matrix, inputs: cut(of_word(matrix, inputs), [len(words) for words in inputs])


def roles(task: Task, train_matrix: Matrix, inputs: object, gold: Sequence[Value], strength: float) -> Predict:
    of_words = tags(task, train_matrix, inputs, gold, strength)
    return lambda matrix, inputs: of_words(matrix, [split(given)[0] for given in inputs])


def choice(
    task: Task, train_matrix: Matrix, inputs: Sequence[Input], gold: Sequence[Value], strength: float
) -> Predict:
    """A linear score for each ending, from the differences between the right ending and every other one."""
    groups = cut(range(train_matrix.shape[0]), [len(endings) for _, endings in inputs])
    pairs = [
        (group[right], other)
        for group, right in zip(groups, gold, strict=True)
        for other in group
        if other != group[right]
    ]
    better, worse = np.array(pairs).T
    differences = train_matrix[better] - train_matrix[worse]
    model = classifier(train_matrix, strength, 2).set_params(fit_intercept=False)
    model.fit(stacked([differences, -differences]), [1] * len(pairs) + [0] * len(pairs))

    def predict(matrix: Matrix, inputs: Sequence[Input]) -> list[Value]:
        scores = model.decision_function(matrix)
        return [int(np.argmax(group)) for group in cut(scores, [len(endings) for _, endings in inputs])]

    return predict


KINDS = {
    "image_label": label,
    "label": label,
    "labels": labels,
    "number": number,
    "tags": tags,
    "choice": choice,
    "roles": roles,
}


def classifier(train_matrix: Matrix, strength: float, labels: int) -> Any:
    """A linear SVM for sparse features, logistic regression for dense ones."""
    from sklearn.linear_model import RidgeClassifier
    from sklearn.svm import LinearSVC

    if not isinstance(train_matrix, np.ndarray):
        return LinearSVC(C=strength, random_state=0)
    if labels > MANY_LABELS:  # least squares
        return RidgeClassifier(alpha=1 / strength, random_state=0)
    return linear_model.classifier(strength)


def stacked(parts: list[Matrix]) -> Matrix:
    from scipy import sparse

    return np.concatenate(parts) if isinstance(parts[0], np.ndarray) else sparse.vstack(parts, format="csr")


def cut(values: Any, lengths: Sequence[int]) -> list[Any]:
    ends = [0, *np.cumsum(lengths).tolist()]
    return [values[start:end] for start, end in pairwise(ends)]
