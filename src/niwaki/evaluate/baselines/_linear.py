"""From features and right answers to something that answers: a linear model for every kind of answer but spans."""

import warnings
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from niwaki.answers._answer_type import Input, Value, chunked
from niwaki.answers.roles import split
from niwaki.tasks._task import Task

SPARSE = (0.1, 1.0)  # 1 ÷ penalty, strongest first
DENSE = (0.0003, 0.003, 0.03, 0.3)  # features in standard units need more of it
MANY_LABELS = 50  # more are fitted in one step, by least squares: a logistic regression would take minutes
Matrix = Any  # (rows, features): an array, or a sparse matrix
Predict = Callable[[Matrix, Sequence[Input]], list[Value]]


class Features(Protocol):
    """Inputs to numbers: a row for each text or pair of texts; of lists of words, one for each word."""

    def fit(self, inputs: Sequence[Input]) -> Matrix:
        """Learns what there is to learn from the train rows, and gives their features."""

    def transform(self, inputs: Sequence[Input]) -> Matrix: ...


class LinearModel:
    """Answers with the features and the penalty that were best on the validation rows."""

    def __init__(self, task: Task, train: pa.Table, tried: Iterable[Features]) -> None:
        validation = task.splits()["validation"]
        self.inputs = task.inputs(validation)  # what is answered already need not be read again
        self.best = -np.inf
        inputs, gold = task.inputs(train), task.gold(train)
        for features in tried:
            known = features.fit(items(inputs))
            strengths = DENSE if isinstance(known, np.ndarray) else SPARSE
            models = [trained(task, known, inputs, gold, strength) for strength in strengths]
            for predict, said in zip(models, answered(features, models, self.inputs), strict=True):
                score = task.scorer.scores(task.scorer.example_stats(said, validation))[task.metric]
                if score > self.best:
                    self.best, self.said, self.features, self.predict = score, said, features, predict

    def __call__(self, inputs: Sequence[Input]) -> list[Value]:
        return self.said if inputs == self.inputs else answered(self.features, [self.predict], inputs)[0]


def answered(features: Features, models: Sequence[Predict], inputs: Sequence[Input]) -> list[list[Value]]:
    """What each model says to all inputs; features are made once, and of some inputs at a time."""
    said: list[list[Value]] = [[] for _ in models]
    for some in chunked(inputs):
        asked = features.transform(items(some))
        for predict, found in zip(models, said, strict=True):
            found += predict(asked, some)
    return said


def items(inputs: Sequence[Input]) -> Sequence[Input]:
    """What gets features of its own: to choose between endings, every beginning with each ending."""
    if inputs and isinstance(inputs[0], tuple) and isinstance(inputs[0][1], list):
        return [(beginning, ending) for beginning, endings in inputs for ending in endings]
    return inputs


def trained(task: Task, known: Matrix, inputs: Sequence[Input], gold: Sequence[Value], strength: float) -> Predict:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a model not quite converged, a label that no row has: both are fine here
        return KINDS[task.answer](task, known, inputs, gold, strength)


def label(task: Task, known: Matrix, inputs: Any, gold: Sequence[Value], strength: float) -> Predict:
    if len(set(gold)) == 1:  # of a sample, or of tags
        return lambda asked, inputs: [gold[0]] * asked.shape[0]
    model = classifier(known, strength, len(task.labels)).fit(known, gold)
    return lambda asked, inputs: model.predict(asked).tolist()


def labels(task: Task, known: Matrix, inputs: Any, gold: Sequence[Value], strength: float) -> Predict:
    from sklearn.multiclass import OneVsRestClassifier

    table = np.array([[name in said for name in task.labels] for said in map(set, gold)], dtype=int)
    model = OneVsRestClassifier(classifier(known, strength, len(task.labels))).fit(known, table)
    return lambda asked, inputs: [
        [name for name, on in zip(task.labels, row, strict=True) if on] for row in np.asarray(model.predict(asked))
    ]


def number(task: Task, known: Matrix, inputs: Any, gold: Sequence[Value], strength: float) -> Predict:
    """By least squares; never outside of what the train rows have."""
    from sklearn.linear_model import Ridge

    low, high = min(gold), max(gold)
    mean, scale = float(np.mean(gold)), float(np.std(gold)) or 1.0
    model = Ridge(alpha=1 / strength, random_state=0).fit(known, (np.asarray(gold) - mean) / scale)
    return lambda asked, inputs: np.clip(model.predict(asked) * scale + mean, low, high).astype(float).tolist()


def tags(task: Task, known: Matrix, inputs: Any, gold: Sequence[Value], strength: float) -> Predict:
    """Every word by itself."""
    of_word = label(task, known, inputs, [tag for sentence in gold for tag in sentence], strength)
    return lambda asked, inputs: cut(of_word(asked, inputs), [len(words) for words in inputs])


def roles(task: Task, known: Matrix, inputs: Any, gold: Sequence[Value], strength: float) -> Predict:
    of_words = tags(task, known, inputs, gold, strength)
    return lambda asked, inputs: of_words(asked, [split(given)[0] for given in inputs])


def choice(task: Task, known: Matrix, inputs: Sequence[Input], gold: Sequence[Value], strength: float) -> Predict:
    """A linear score for each ending, from the differences between the right ending and every other one."""
    groups = cut(range(known.shape[0]), [len(endings) for _, endings in inputs])
    pairs = [
        (group[right], other)
        for group, right in zip(groups, gold, strict=True)
        for other in group
        if other != group[right]
    ]
    better, worse = np.array(pairs).T
    differences = known[better] - known[worse]
    model = classifier(known, strength, 2).set_params(fit_intercept=False)
    model.fit(stacked([differences, -differences]), [1] * len(pairs) + [0] * len(pairs))

    def predict(asked: Matrix, inputs: Sequence[Input]) -> list[Value]:
        scores = model.decision_function(asked)
        return [int(np.argmax(one)) for one in cut(scores, [len(endings) for _, endings in inputs])]

    return predict


KINDS = {"label": label, "labels": labels, "number": number, "tags": tags, "choice": choice, "roles": roles}


def classifier(known: Matrix, strength: float, labels: int) -> Any:
    """A linear SVM for sparse features, logistic regression for dense ones."""
    from sklearn.linear_model import LogisticRegression, RidgeClassifier
    from sklearn.svm import LinearSVC

    if not isinstance(known, np.ndarray):
        return LinearSVC(C=strength, random_state=0)
    if labels > MANY_LABELS:
        return RidgeClassifier(alpha=1 / strength, random_state=0)
    return LogisticRegression(C=strength, max_iter=100, random_state=0)


def stacked(parts: list[Matrix]) -> Matrix:
    from scipy import sparse

    return np.concatenate(parts) if isinstance(parts[0], np.ndarray) else sparse.vstack(parts, format="csr")


def cut(values: Any, lengths: Sequence[int]) -> list[Any]:
    ends = [0, *np.cumsum(lengths).tolist()]
    return [values[start:end] for start, end in pairwise(ends)]
