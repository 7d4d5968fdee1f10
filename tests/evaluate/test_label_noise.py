"""Confident learning: matrices by hand, and labels that were changed on purpose."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

import tiny
from niwaki.core.errors import InputError
from niwaki.evaluate import label_noise as noise
from niwaki.tasks.classification import Classification
from niwaki.tasks.regression import Regression

# thresholds: label 0 (0.9 + 0.8 + 0.1) / 3 = 0.6, label 1 (0.7 + 0.3) / 2 = 0.5
PROBABILITIES = np.array([[0.9, 0.1], [0.8, 0.2], [0.1, 0.9], [0.3, 0.7], [0.7, 0.3]])
GIVEN = np.array([0, 0, 0, 1, 1])


def test_confident_labels_by_hand():
    assert noise.thresholds(PROBABILITIES, GIVEN) == pytest.approx([0.6, 0.5])
    assert noise.confident_labels(PROBABILITIES, GIVEN).tolist() == [0, 0, 1, 1, 0]
    assert noise.suspects(PROBABILITIES, GIVEN) == [(2, 1), (4, 0)]


def test_the_joint_by_hand():
    """Of three rows with label 0 one counts as 1; of two with label 1 one counts as 0."""
    joint = noise.confident_joint(PROBABILITIES, GIVEN)
    assert joint == pytest.approx(np.array([[0.4, 0.2], [0.2, 0.2]]))
    assert joint.sum() == pytest.approx(1.0)


def test_rows_below_all_thresholds_do_not_count_and_labels_without_rows_are_right():
    probabilities = np.array([[0.9, 0.05, 0.05], [0.34, 0.33, 0.33], [0.1, 0.8, 0.1], [0.2, 0.3, 0.5]])
    given = np.array([0, 0, 1, 1])
    assert noise.confident_labels(probabilities, given).tolist() == [0, -1, 1, -1]
    assert noise.confident_joint(probabilities, given) == pytest.approx(np.diag([0.5, 0.5, 0.0]))


def test_each_row_is_predicted_without_its_fold():
    """A text that is in no other fold shares no word with them, so that its probabilities are the prior's."""
    inputs = ["alpha", "alpha", "beta", "beta", "gamma", "gamma"]
    given, folds = np.array([0, 0, 1, 1, 0, 1]), np.array([0, 0, 1, 1, 2, 2])
    found = noise.out_of_fold(noise.by_words(inputs, given, 3), given, folds, 3)
    assert found.shape == (6, 3) and (found[:, 2] == 0).all()
    assert found.sum(axis=1) == pytest.approx(np.ones(6))
    assert np.allclose(found[0], found[1]) and found[0, 0] < 0.5 < found[2, 0]


def test_vectors_that_separate_the_labels_find_the_wrong_one():
    """Two groups of vectors, one row of the second has the first label."""
    draw = np.random.default_rng(0)
    true = np.repeat([0, 1], 20)
    features = (true[:, None] * 4 - 2 + draw.normal(size=(40, 3))).astype(np.float32)
    given = np.where(np.arange(40) == 30, 0, true)
    found = noise.out_of_fold(noise.by_vectors(features, given, 2), given, np.arange(40) % 5, 2)
    assert found.sum(axis=1) == pytest.approx(np.ones(40), abs=1e-5)
    assert noise.suspects(found, given)[0] == (30, 1)


def test_the_features_that_predict_more_labels_are_taken(tmp_path, monkeypatch):
    """An encoder that reads the label off the text is better than words that occur once each; it is not used for many rows."""
    rows = [(f"{'good' if number % 2 else 'bad'}{number}", str(number % 2)) for number in range(60)]
    task = Classification(path=written(tmp_path / "rows.jsonl", rows))
    vectors = SimpleNamespace(texts=lambda texts: np.array([[len(text), text[0] == "g", 1.0] for text in texts]))
    monkeypatch.setattr(noise, "Encoder", lambda baseline: vectors)
    monkeypatch.setattr(noise.Frozen, "has_seen_labels", lambda self: False)
    model = noise.label_noise(task, tmp_path)["model"]
    assert model["features"] == "frozen encoder" and model["accuracy"] == 1.0
    assert noise.label_noise(task)["model"]["features"] == "TF-IDF"
    monkeypatch.setattr(noise, "MAX_ENCODED_ROWS", 10)
    assert noise.label_noise(task, tmp_path)["model"]["features"] == "TF-IDF"


def written(path, rows) -> str:
    path.write_text("".join(json.dumps({"text": text, "label": label}) + "\n" for text, label in rows))
    return str(path)


def test_changed_labels_are_found(tmp_path):
    rows = tiny.sentences(400)
    names = sorted({label for _, label in rows})
    changed = {
        text: names[(names.index(label) + 1) % len(names)]
        for number, (text, label) in enumerate(rows)
        if number % 8 == 0
    }
    noisy = Classification(
        path=written(tmp_path / "noisy.jsonl", [(text, changed.get(text, label)) for text, label in rows])
    )
    clean = Classification(path=written(tmp_path / "clean.jsonl", rows))
    found, before = noise.label_noise(noisy), noise.label_noise(clean)
    assert before["noise"] < 0.03 and found["noise"] == pytest.approx(1 / 8, abs=0.05) and found["reliable"]
    right = [one for one in found["suspects"] if one["input"] in changed and one["label"] == changed[one["input"]]]
    assert len(right) > 0.8 * len(found["suspects"]) > 10
    assert json.loads(json.dumps(found)) == found and set(found["by_label"]) == set(names)


def test_random_labels_are_not_reliable_and_other_tasks_are_rejected(tmp_path):
    draw = np.random.default_rng(0)
    rows = [(f"{text} {number}", str(draw.integers(2))) for number, (text, _) in enumerate(tiny.sentences(200))]
    assert not noise.label_noise(Classification(path=written(tmp_path / "random.jsonl", rows)))["reliable"]
    numbers = [(text, number / 7) for number, (text, _) in enumerate(rows)]
    with pytest.raises(InputError, match="one label per text"):
        noise.label_noise(Regression(path=written(tmp_path / "numbers.jsonl", numbers)))
