"""How many training labels are probably wrong, and which: confident learning with a linear model.

Logistic regression predicts each row from folds without it; rows with the same inputs are in the same fold. Its features are TF-IDF, or for few rows the
vectors of the recipe's pretrained encoder, whichever predicts more of the given labels. A row counts as
another label if the probability of that label is at least its mean over the rows that have it (Northcutt, Jiang, Chuang 2021, Confident
Learning, arXiv 1911.00068). The estimate is only as good as the linear model, so its accuracy is given too.
"""

import warnings
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from niwaki.answers._answer_type import Input
from niwaki.core.errors import InputError
from niwaki.core.json_types import Json
from niwaki.core.seeds import numpy_generator
from niwaki.data.overlap import keys
from niwaki.evaluate.baselines._dense import Dense
from niwaki.evaluate.baselines.frozen import Encoder, Frozen
from niwaki.evaluate.baselines.tfidf import MAX_WEIGHTS, TextFeatures
from niwaki.models.linear_model import MANY_LABELS, STRENGTHS, best_penalty, logistic_regression
from niwaki.tasks._data import INPUT_COLUMNS
from niwaki.tasks._task import Task

FOLDS = 5
MAX_ROWS = 20_000
MAX_ENCODED_ROWS = 5_000  # with more, words know enough, and an encoder would take minutes
INVERSE_PENALTY = 10.0
WORDS, ENCODER = "TF-IDF", "frozen encoder"
WEAK = 0.5  # below this share of the rows that the majority class gets wrong, the model explains too little

# numbers of the rows to fit and of the rows to predict → probabilities (predicted rows, labels)
Predict = Callable[[np.ndarray, np.ndarray], np.ndarray]


def label_noise(task: Task, encoder: Path | None = None) -> Json:
    """The estimate for the train rows of a task with one label for each text. `encoder` is the folder of a pretrained model."""
    if task.answer != "label":
        raise InputError(
            f"label noise is estimated for one label per text, and task '{task.name}' has another kind of answer"
        )
    rows = _sample(task.splits()["train"])
    given = np.array([task.labels.index(str(name)) for name in task.gold(rows)])
    inputs, folds, labels = task.inputs(rows), _folds(rows), len(task.labels)
    models = {WORDS: by_words(inputs, given, labels)}
    if encoder and _is_affordable(len(given), labels) and not Frozen(task, encoder).has_seen_labels():
        models[ENCODER] = by_vectors(Dense(Encoder(Frozen(task, encoder)).texts).fit(inputs), given, labels)
    predicted = {name: out_of_fold(model, given, folds, labels) for name, model in models.items()}
    accuracies = {name: float((found.argmax(axis=1) == given).mean()) for name, found in predicted.items()}
    best = max(accuracies, key=lambda name: accuracies[name])
    probabilities, accuracy = predicted[best], accuracies[best]
    joint = confident_joint(probabilities, given)
    suggested = suspects(probabilities, given)
    majority = float(np.bincount(given).max() / len(given))
    return {
        "rows": len(given),
        "noise": 1.0 - float(np.trace(joint)),
        "by_label": {name: _noise_of(joint, number) for number, name in enumerate(task.labels)},
        "model": {"features": best, "accuracy": accuracy, "majority": majority},
        "reliable": accuracy >= majority + WEAK * (1 - majority),
        "suspects": [
            {
                "input": inputs[row],
                "label": task.labels[given[row]],
                "suggested": task.labels[label],
                "probability": float(probabilities[row, label]),
            }
            for row, label in suggested
        ],
    }


def _is_affordable(rows: int, labels: int) -> bool:
    return rows <= MAX_ENCODED_ROWS and labels <= MANY_LABELS


def _sample(rows: pa.Table) -> pa.Table:
    if rows.num_rows <= MAX_ROWS:
        return rows
    drawn = numpy_generator(0, "label noise", rows.num_rows).choice(rows.num_rows, MAX_ROWS, replace=False)
    return rows.take(np.sort(drawn))


def _folds(rows: pa.Table) -> np.ndarray:
    """A fold for each row, by a hash of its inputs."""
    return keys(rows, [name for name in INPUT_COLUMNS if name in rows.column_names]) % np.uint64(FOLDS)


def _noise_of(joint: np.ndarray, label: int) -> float | None:
    """Share of the rows with this label that have another one; None without rows."""
    total = joint[label].sum()
    return 1.0 - float(joint[label, label] / total) if total else None


def out_of_fold(predict: Predict, given: np.ndarray, folds: np.ndarray, labels: int) -> np.ndarray:
    """Probabilities (rows, labels), each row's from a model that was fitted on the other folds."""
    found = np.zeros((len(given), labels))
    for fold in np.unique(folds):
        inside, outside = np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)
        if len(np.unique(given[outside])) < 2:
            raise InputError("label noise: too few rows or labels to estimate it")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # not converged: fine here
            found[inside] = predict(outside, inside)
    return found


def by_words(inputs: Sequence[Input], given: np.ndarray, labels: int) -> Predict:
    from sklearn.linear_model import LogisticRegression

    def predict(known: np.ndarray, requested: np.ndarray) -> np.ndarray:
        features = TextFeatures(1, MAX_WEIGHTS // labels)
        matrix = features.fit([inputs[row] for row in known.tolist()])
        model = LogisticRegression(C=INVERSE_PENALTY, max_iter=200).fit(matrix, given[known])
        found = np.zeros((len(requested), labels))
        found[:, model.classes_] = model.predict_proba(features.transform([inputs[row] for row in requested.tolist()]))
        return found

    return predict


def by_vectors(features: np.ndarray, given: np.ndarray, labels: int) -> Predict:
    """`features`: (rows, width), standardized. One penalty for all folds, chosen by cross-validation."""
    from scipy.special import softmax

    penalty = best_penalty("single_label_classification", features, given, labels, seed=0, tried=STRENGTHS)

    def predict(known: np.ndarray, requested: np.ndarray) -> np.ndarray:
        return softmax(logistic_regression(features[known], given[known], labels, penalty)(features[requested]), axis=1)

    return predict


def thresholds(probabilities: np.ndarray, given: np.ndarray) -> np.ndarray:
    """Mean probability (labels,) of each label over the rows that have it; infinite for labels without rows."""
    found = np.full(probabilities.shape[1], np.inf)
    for label in np.unique(given):
        found[label] = probabilities[given == label, label].mean()
    return found


def confident_labels(probabilities: np.ndarray, given: np.ndarray) -> np.ndarray:
    """The most likely of the labels that reach their threshold, (rows,); -1 where none does."""
    reached = np.where(probabilities >= thresholds(probabilities, given), probabilities, -1.0)
    return np.where(reached.max(axis=1) >= 0, reached.argmax(axis=1), -1)


def confident_joint(probabilities: np.ndarray, given: np.ndarray) -> np.ndarray:
    """The estimated joint distribution (given label, true label); its rows have the frequencies of the given labels."""
    labels, confident = probabilities.shape[1], confident_labels(probabilities, given)
    counts = np.zeros((labels, labels))
    np.add.at(counts, (given[confident >= 0], confident[confident >= 0]), 1)
    frequencies = np.bincount(given, minlength=labels) / len(given)
    empty = counts.sum(axis=1) == 0
    counts[empty, empty] = 1.0  # nothing is known of these labels: they are taken as right
    return counts / counts.sum(axis=1, keepdims=True) * frequencies[:, None]


def suspects(probabilities: np.ndarray, given: np.ndarray) -> list[tuple[int, int]]:
    """Rows that count as another label, with that label; those with the largest difference in probability first."""
    confident, numbers = confident_labels(probabilities, given), np.arange(len(given))
    rows = numbers[(confident >= 0) & (confident != given)]
    margin = probabilities[rows, given[rows]] - probabilities[rows, confident[rows]]
    return [(int(row), int(confident[row])) for row in rows[np.argsort(margin, kind="stable")]]
