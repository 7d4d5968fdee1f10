"""Calibration by hand, and that a temperature mends what it can."""

import numpy as np
import pytest

from niwaki.evaluate.changes.calibration import brier, calibration, calibration_error, log_loss, reliability


def test_calibration_error_of_two_bins_by_hand():
    confidence = np.repeat([0.9, 0.6], 10)
    right = np.array([1] * 9 + [0] + [1] * 5 + [0] * 5)
    bins = reliability(confidence, right)
    assert [one["confidence"] for one in bins] == pytest.approx([0.6, 0.9])
    assert [(one["right"], one["rows"]) for one in bins] == [(0.5, 10), (0.9, 10)]
    assert calibration_error(confidence, right) == pytest.approx(0.05)


def test_brier_score_and_log_loss_by_hand():
    probabilities, gold = np.array([[0.8, 0.2], [0.3, 0.7]]), np.array([0, 0])
    assert brier(probabilities, gold) == pytest.approx((0.04 + 0.04 + 0.49 + 0.49) / 2)
    assert log_loss(probabilities, gold) == pytest.approx(-(np.log(0.8) + np.log(0.3)) / 2)


def test_temperature_is_found_on_one_half_and_mends_the_other():
    draw = np.random.default_rng(3)
    logits = draw.normal(size=(3001, 3))
    chances = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    gold = np.array([draw.choice(3, p=row) for row in chances])
    gold[0] = 3  # a label that the model lacks
    found = calibration(logits * 4, gold, seed=1)
    assert found["temperature"] == pytest.approx(4, rel=0.15) and found["rows"] == 1500
    assert found["before"]["ece"] > 0.2 > 0.05 > found["after"]["ece"]
    assert found["after"]["log_loss"] < found["before"]["log_loss"]
