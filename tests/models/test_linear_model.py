"""Linear models on features: predictions of scikit-learn's own, and the penalty from cross-validation."""

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from niwaki.models import linear_model
from niwaki.models.linear_model import STRENGTHS, UNSEEN, fitted, held_out_loss, logistic_regression

RNG = np.random.default_rng(0)
VECTORS = RNG.normal(size=(30, 5))
FEATURES = (RNG.normal(3.0, 2.0, (90, 7)) * [1, 20, 0.1, 1, 5, 1, 1]).astype(np.float32)
LABEL, SEVERAL, NUMBER = "single_label_classification", "multi_label_classification", "regression"


@pytest.mark.parametrize("labels", [2, 4])
def test_logits_are_those_of_scikit_learn(labels):
    gold = np.arange(30) % labels
    logits = logistic_regression(VECTORS, gold, labels, 10.0, 1000)(VECTORS)
    theirs = LogisticRegression(C=10.0, max_iter=1000).fit(VECTORS, gold)
    shares = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(shares, theirs.predict_proba(VECTORS), atol=1e-5)


def test_a_label_without_rows_is_never_predicted():
    two = logistic_regression(VECTORS, np.arange(30) % 2 * 2, 3, 1.0)
    assert set(two(VECTORS).argmax(axis=1)) == {0, 2} and two.bias[1] == UNSEEN
    assert set(logistic_regression(VECTORS, np.full(30, 1), 3, 1.0)(VECTORS).argmax(axis=1)) == {1}


def targets(problem: str) -> np.ndarray:
    noisy = FEATURES[:, :3] / FEATURES[:, :3].std(axis=0) + RNG.normal(size=(90, 3))
    table = {LABEL: noisy.argmax(axis=1), SEVERAL: (noisy > np.median(noisy)).astype(np.float32)}
    return table.get(problem, noisy.sum(axis=1).astype(np.float32))


@pytest.mark.parametrize("problem", [LABEL, SEVERAL, NUMBER])
def test_predictions_are_those_of_scikit_learn_on_standardized_features(problem):
    gold = targets(problem)
    outputs = gold.shape[1] if problem == SEVERAL else {LABEL: 3, NUMBER: 1}[problem]
    standard = StandardScaler().fit_transform(FEATURES)
    losses = [held_out_loss(problem, standard, gold, outputs, strength, 1) for strength in STRENGTHS]
    best = STRENGTHS[int(np.argmin(losses))]
    kind = Ridge(alpha=1 / best) if problem == NUMBER else LogisticRegression(C=best)
    theirs = make_pipeline(StandardScaler(), OneVsRestClassifier(kind) if problem == SEVERAL else kind)
    theirs.fit(FEATURES, gold.astype(int) if problem == SEVERAL else gold)
    found = fitted(problem, FEATURES, gold, outputs, 1)(FEATURES)
    assert found.shape == (90, outputs) and len(set(losses)) == len(STRENGTHS)
    wanted = theirs.predict(FEATURES)
    if problem == NUMBER:
        np.testing.assert_allclose(found[:, 0], wanted, atol=1e-3)
    else:
        np.testing.assert_array_equal(found > 0 if problem == SEVERAL else found.argmax(axis=1), wanted)


def test_the_penalty_is_that_of_a_cross_validation(monkeypatch):
    """Features that say nothing need the strongest penalty, clear ones a weaker one; the loss is that of scikit-learn's folds."""
    draw = np.random.default_rng(5)
    clear, gold = draw.normal(size=(60, 4)), np.arange(60) % 2
    clear[:, 0] += 6 * gold
    for features, best in ((clear, 3), (draw.normal(size=(60, 40)), 0)):
        losses = [held_out_loss(LABEL, features, gold, 2, strength, 0) for strength in STRENGTHS]
        assert int(np.argmin(losses)) == best
    order = np.random.default_rng(0).permutation(60)
    theirs = -cross_val_score(
        LogisticRegression(C=0.03), clear[order], gold[order], cv=KFold(5), scoring="neg_log_loss"
    )
    assert held_out_loss(LABEL, clear, gold, 2, 0.03, 0) == pytest.approx(theirs.sum(), abs=1e-4)
    monkeypatch.setattr(linear_model, "MANY_ROWS", 59)
    assert held_out_loss(LABEL, clear, gold, 2, 0.03, 0) == pytest.approx(theirs[0], abs=1e-4)


@pytest.mark.parametrize(("problem", "outputs"), [(LABEL, 3), (SEVERAL, 3), (NUMBER, 1)])
def test_features_that_say_nothing_are_not_used(problem, outputs, monkeypatch):
    """Next to a weak penalty. The model is then the frequency of each label, or the mean."""
    monkeypatch.setattr(linear_model, "STRENGTHS", (10.0,))
    draw = np.random.default_rng(7)
    gold = {LABEL: np.repeat([0, 1, 2], [40, 15, 5]), NUMBER: draw.normal(5, 1, 60).astype(np.float32)}.get(
        problem, (draw.random((60, 3)) < [0.8, 0.5, 0.2]).astype(np.float32)
    )
    found = fitted(problem, draw.normal(size=(60, 200)).astype(np.float32), gold, outputs, 0)
    assert not found.weight.any()
    if problem == LABEL:
        np.testing.assert_allclose(np.exp(found.bias), [40 / 60, 15 / 60, 5 / 60], rtol=1e-5)
    elif problem == SEVERAL:
        np.testing.assert_allclose(1 / (1 + np.exp(-found.bias)), gold.mean(axis=0), rtol=1e-5)
    else:
        np.testing.assert_allclose(found.bias, gold.mean(), rtol=1e-5)


def test_features_that_do_not_vary_and_a_single_row_are_fitted():
    features = np.ones((1, 3), dtype=np.float32)
    found = fitted(LABEL, features, np.array([1]), 2, 0)
    assert found(features).argmax() == 1 and torch.isfinite(torch.from_numpy(found.weight)).all()
