"""Linear models on features, for every answer type."""

import numpy as np

from niwaki.evaluate.baselines import _linear
from niwaki.evaluate.baselines._dense import Dense
from niwaki.evaluate.baselines._linear import LinearModel, choice, cut, items


def test_validation_rows_are_encoded_once(tasks_by_kind, bert_folder):
    task = tasks_by_kind["label"]
    seen: list[str] = []

    def vectors(texts):
        seen.extend(texts)
        return np.array([[len(text), text.count("o")] for text in texts], dtype=np.float32)

    answer = LinearModel(task, task.splits()["train"], [Dense(vectors)])
    first = task.inputs(task.splits()["validation"])
    read = len(seen)
    assert read == task.splits()["train"].num_rows + len(first)
    answer(first)
    assert len(seen) == read


def test_every_ending_has_its_own_features():
    assert items([("a", ["x", "y"]), ("b", ["z", "w"])]) == [("a", "x"), ("a", "y"), ("b", "z"), ("b", "w")]
    assert items([("a", "b")]) == [("a", "b")] and items(["a"]) == ["a"] and items([["a", "b"]]) == [["a", "b"]]
    assert cut([1, 2, 3], [2, 0, 1]) == [[1, 2], [], [3]]


def test_choice_is_learnt_from_differences_between_endings():
    """A feature that all endings of a beginning have alike says nothing; the one that differs decides."""
    draw = np.random.default_rng(1)
    inputs = [("", ["", "", ""])] * 40
    gold = draw.integers(0, 3, 40).tolist()
    known = np.repeat(draw.normal(0, 50, (40, 1)), 3, axis=0)
    known = np.concatenate([known, draw.normal(0, 0.1, (120, 1))], axis=1)
    known[np.arange(40) * 3 + gold, 1] += 1
    assert choice(None, known, inputs, gold, 1.0)(known, inputs) == gold


def test_many_labels_are_fitted_in_one_step():
    from sklearn.linear_model import LogisticRegression, RidgeClassifier

    dense = np.zeros((1, 1))
    assert isinstance(_linear.classifier(dense, 1.0, _linear.MANY_LABELS + 1), RidgeClassifier)
    assert isinstance(_linear.classifier(dense, 1.0, _linear.MANY_LABELS), LogisticRegression)


def test_single_label_is_always_predicted(tasks_by_kind):
    task = tasks_by_kind["label"]
    assert _linear.trained(task, np.eye(3), [], ["good"] * 3, 1.0)(np.eye(2), []) == ["good"] * 2
