"""A linear classifier on the states of one layer: accuracy on other sentences, the same for a control task, and description length.

Control task (Hewitt and Liang 2019, arXiv 1909.03368): every word type gets a random label with the frequencies of the real ones. A
classifier can only learn it by memorizing types, so the difference between both accuracies, the selectivity, is what the states
show beyond the identity of words.
"""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from niwaki.core.json_types import Json
from niwaki.core.seeds import numpy_generator
from niwaki.evaluate.probes._probe import Example
from niwaki.evaluate.probing.description_length import online_code
from niwaki.evaluate.quality import bootstrap_rows, interval
from niwaki.models.linear_model import logistic_regression, moments

INVERSE_PENALTY = 0.03  # for standardized features


@dataclass(frozen=True)
class Labelled:
    """Examples of one probe, split by sentence: what they are is the same for all models and layers."""

    train: list[Example]
    test: list[Example]
    labels: list[str]
    control_train: np.ndarray  # numbers of the labels in the control task
    control_test: np.ndarray

    def numbers(self, examples: Sequence[Example]) -> np.ndarray:
        """-1 for labels that no training example has."""
        number = {label: place for place, label in enumerate(self.labels)}
        return np.array([number.get(one.label, -1) for one in examples])

    @property
    def majority(self) -> float:
        """Accuracy of the most frequent label."""
        train, test = self.numbers(self.train), self.numbers(self.test)
        return float((test == np.bincount(train).argmax()).mean())


def labelled(train: list[Example], test: list[Example], seed: int) -> Labelled:
    labels = sorted({one.label for one in train})
    number = {label: place for place, label in enumerate(labels)}
    shares = np.bincount([number[one.label] for one in train], minlength=len(labels)) / len(train)

    def control(examples: Sequence[Example]) -> np.ndarray:
        drawn = {
            name: int(numpy_generator(seed, "control", name).choice(len(labels), p=shares))
            for name in {one.type for one in examples}
        }
        return np.array([drawn[one.type] for one in examples])

    return Labelled(train, test, labels, control(train), control(test))


def measured(examples: Labelled, train: np.ndarray, test: np.ndarray) -> tuple[Json, np.ndarray]:
    """The figures of one layer, from features (examples, size), and per sentence (correct, correct in the control task, examples)."""
    mean, scale = moments(train)
    train, test = (train - mean) / scale, (test - mean) / scale
    labels, gold, count = examples.numbers(examples.train), examples.numbers(examples.test), len(examples.labels)
    own = _fitted(train, labels, count)(test).argmax(axis=1) == gold
    control = _fitted(train, examples.control_train, count)(test).argmax(axis=1) == examples.control_test

    def fit(rows: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        found = _fitted(train[rows], labels[rows], count)
        return lambda others: found(train[others])

    length = online_code(labels, count, fit)
    stats = by_sentence(examples.test, own, control)
    accuracy, controlled = float(own.mean()), float(control.mean())
    return {
        "accuracy": {"value": accuracy, **_interval(stats, lambda s: s[0] / s[2])},
        "control": controlled,
        "selectivity": {"value": accuracy - controlled, **_interval(stats, lambda s: (s[0] - s[1]) / s[2])},
        "bits": length.bits,
        "uniform_bits": length.uniform,
        "compression": length.compression,
    }, stats


def _fitted(features: np.ndarray, labels: np.ndarray, count: int) -> Callable[[np.ndarray], np.ndarray]:
    """A function from features to log-probabilities (examples, labels)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # not converged: fine here
        model = logistic_regression(features, labels, count, INVERSE_PENALTY)

    def log_probabilities(others: np.ndarray) -> np.ndarray:
        logits = model(others).astype(np.float64)
        logits -= logits.max(axis=1, keepdims=True)
        return logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))

    return log_probabilities


def by_sentence(examples: Sequence[Example], *counted: np.ndarray) -> np.ndarray:
    """(counts + 1, sentences): sums over the examples of each sentence, and their number. Words of a sentence are not independent, so
    intervals draw sentences."""
    _, place = np.unique([one.sentence for one in examples], return_inverse=True)
    return np.stack([np.bincount(place, weights=values) for values in (*counted, np.ones(len(examples)))])


def _interval(stats: np.ndarray, figure: Callable[[np.ndarray], float]) -> dict[str, float]:
    return interval([float(figure(stats[:, rows].sum(axis=1))) for rows in bootstrap_rows(stats.shape[1], 0)])


def difference(own: np.ndarray, other: np.ndarray) -> Json:
    """Accuracy of one model less that of another one, on the same sentences."""

    def figure(stats: np.ndarray) -> float:
        return float((stats[0] - stats[3]) / stats[2])

    both = np.concatenate([own, other[:1]])
    return {"value": figure(both.sum(axis=1)), **_interval(both, figure)}
