"""Answer spans from linear scores of positions."""

import pytest

from niwaki.evaluate.baselines import _spans
from niwaki.evaluate.baselines._question_features import QuestionFeatures
from niwaki.evaluate.baselines._spans import SpanModel


@pytest.fixture(scope="module")
def span_model(tasks_by_kind):
    task = tasks_by_kind["span or none"]
    train = task.splits()["train"]
    return SpanModel(task, train, QuestionFeatures([text for _, text in task.inputs(train)]))


def test_predictions_do_not_depend_on_the_chunk_size(span_model, monkeypatch):
    inputs = span_model.task.inputs(span_model.task.splits()["test"])
    expected = span_model(inputs)
    monkeypatch.setattr(_spans, "CHUNK", 7)
    assert span_model(inputs) == expected
    assert len(set(expected)) > 2


def test_threshold_for_no_answer_is_tuned_on_the_validation_rows(span_model):
    validation = span_model.task.splits()["validation"]
    values, gold = span_model(span_model.task.inputs(validation)), span_model.task.gold(validation)
    assert span_model.answer_type.allow_no_answer and 0 < values.count("") < len(values)
    right = sum(value == "" for value, answers in zip(values, gold, strict=True) if not any(answers))
    assert right > 0.6 * sum(not any(answers) for answers in gold)
