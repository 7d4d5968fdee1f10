"""Linear models on dense features of texts, as the frozen baseline, `linear_head` and `linear_probe` fit them.

features ── standardize ──> logistic regression (labels) or ridge regression (numbers) ──> weight and bias for the features as they were
"""

import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch.nn import functional

STRENGTHS = (0.0003, 0.003, 0.03, 0.3)  # inverse penalties for standardized features, the strongest penalty first
CONSTANT = 0.0  # that of a model without features, which is best where they say nothing about the labels, as in WNLI
MANY_LABELS = 50  # with more, a logistic regression would take minutes
UNSEEN = -20.0  # logit of a label without training rows, below all others
FOLDS, MANY_ROWS = 5, 2000  # with more rows, one fold is enough to choose the penalty
ITERATIONS = 100


class Linear(NamedTuple):
    weight: np.ndarray  # (outputs, features)
    bias: np.ndarray  # (outputs,)

    def __call__(self, features: np.ndarray) -> np.ndarray:
        return features @ self.weight.T + self.bias


Fit = Callable[[np.ndarray, np.ndarray, int, float], Linear]  # features, targets, outputs, inverse penalty
Loss = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def classifier(inverse_penalty: float, iterations: int = ITERATIONS) -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=inverse_penalty, max_iter=iterations, random_state=0)


def regressor(inverse_penalty: float) -> Any:
    from sklearn.linear_model import Ridge

    return Ridge(alpha=1 / inverse_penalty, random_state=0)


def moments(features: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation of each feature; 1 for those that do not vary."""
    mean, scale = features.mean(axis=0), features.std(axis=0)
    scale[scale < 1e-6] = 1
    return mean, scale


def logistic_regression(
    features: np.ndarray, labels: np.ndarray, outputs: int, inverse_penalty: float, iterations: int = ITERATIONS
) -> Linear:
    """One label for each row, as a number."""
    weight, bias = np.zeros((outputs, features.shape[1])), np.full(outputs, UNSEEN)
    seen = np.unique(labels)
    if inverse_penalty == CONSTANT or len(seen) == 1:
        bias[seen] = np.log([(labels == label).mean() for label in seen])
    else:
        fitted = classifier(inverse_penalty, iterations).fit(features, labels)
        halves = len(seen) == 2  # one row of coefficients: the difference between the two logits
        weight[seen] = np.concatenate([-fitted.coef_, fitted.coef_]) / 2 if halves else fitted.coef_
        bias[seen] = np.concatenate([-fitted.intercept_, fitted.intercept_]) / 2 if halves else fitted.intercept_
    return Linear(weight.astype(np.float32), bias.astype(np.float32))


def several_labels(features: np.ndarray, indicators: np.ndarray, outputs: int, inverse_penalty: float) -> Linear:
    """A logistic regression for each column of 0 and 1."""
    fitted = [logistic_regression(features, column, 2, inverse_penalty) for column in indicators.astype(int).T]
    return Linear(*(np.stack([two[1] - two[0] for two in parts]) for parts in zip(*fitted, strict=True)))


def ridge_regression(features: np.ndarray, numbers: np.ndarray, outputs: int, inverse_penalty: float) -> Linear:
    if inverse_penalty == CONSTANT:
        return Linear(np.zeros((1, features.shape[1]), np.float32), np.full(1, numbers.mean(), np.float32))
    fitted = regressor(inverse_penalty).fit(features, numbers.reshape(len(numbers)))
    weight, bias = fitted.coef_.reshape(1, -1), np.reshape(fitted.intercept_, 1)
    return Linear(weight.astype(np.float32), bias.astype(np.float32))


KINDS: dict[str, tuple[Fit, Loss]] = {  # by `problem_type` of the config
    "single_label_classification": (logistic_regression, lambda logits, gold: functional.cross_entropy(logits, gold)),
    "multi_label_classification": (several_labels, functional.binary_cross_entropy_with_logits),
    "regression": (ridge_regression, lambda found, gold: functional.mse_loss(found.reshape(gold.shape), gold)),
}


def fitted(problem: str, features: np.ndarray, targets: np.ndarray, outputs: int, seed: int) -> Linear:
    """The model with the best penalty, for features that are not standardized."""
    mean, scale = moments(features)
    standard = (features - mean) / scale
    penalty = best_penalty(problem, standard, targets, outputs, seed, (CONSTANT, *STRENGTHS))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # not converged: fine here
        model = KINDS[problem][0](standard, targets, outputs, penalty)
    weight = model.weight / scale
    return Linear(weight.astype(np.float32), (model.bias - weight @ mean).astype(np.float32))


def best_penalty(
    problem: str, features: np.ndarray, targets: np.ndarray, outputs: int, seed: int, tried: Sequence[float]
) -> float:
    """The inverse penalty with the smallest held-out loss, for standardized features."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # not converged: fine here
        losses = [held_out_loss(problem, features, targets, outputs, strength, seed) for strength in tried]
    return tried[int(np.argmin(losses))]


def held_out_loss(
    problem: str, features: np.ndarray, targets: np.ndarray, outputs: int, strength: float, seed: int
) -> float:
    """Mean loss on rows that the model was not fitted on, by cross-validation. 0 for a single row."""
    fit, loss = KINDS[problem]
    order = np.random.default_rng(seed).permutation(len(features))
    parts = np.array_split(order, min(FOLDS, len(order)))
    total = 0.0
    for held_out in parts[:1] if len(order) > MANY_ROWS else parts if len(parts) > 1 else []:
        rest = np.setdiff1d(order, held_out)
        logits = fit(features[rest], targets[rest], outputs, strength)(features[held_out])
        gold = torch.from_numpy(targets[held_out])
        total += float(
            loss(torch.from_numpy(logits).to(torch.float64), gold if gold.dtype == torch.int64 else gold.double())
        )
    return total
