"""Whether a model answers a task."""

from pathlib import Path

import pytest

from niwaki.answers.label import Label
from niwaki.answers.number import Number
from niwaki.core.errors import InputError
from niwaki.tasks import _model_check
from niwaki.tasks._model_check import adapt_to_model, check_labels_match, check_model_matches
from niwaki.tasks.classification import Classification
from niwaki.tasks.generation import Generation

MODEL = Path("somewhere/model")


@pytest.fixture
def task(rows_csv):
    return Classification(path=str(rows_csv))


def test_a_model_of_the_task_passes(task):
    check_model_matches(task, Label(), ["bad", "good"], MODEL)


def test_another_answer_type_is_rejected(task):
    with pytest.raises(InputError, match=f"^{MODEL}: answers with a number, the task wants a label$"):
        check_model_matches(task, Number(), ["bad", "good"], MODEL)


@pytest.mark.parametrize("labels", [["good", "bad"], ["bad"], ["bad", "good", "fine"]])
def test_other_labels_or_another_order_are_rejected(task, labels):
    with pytest.raises(InputError, match=r"its labels are .*, the task's are .*; choose the task it was made for"):
        check_labels_match(task, labels, MODEL)


def test_long_lists_of_labels_are_cut(task):
    with pytest.raises(InputError) as caught:
        check_labels_match(task, [f"label{n}" for n in range(500)], MODEL)
    assert "label19'" in str(caught.value) and "label20" not in str(caught.value)


def test_only_tasks_that_depend_on_the_start_model_are_adapted(task, monkeypatch):
    monkeypatch.setattr(_model_check, "open_answer_type", lambda *given: pytest.fail("was opened"))
    adapt_to_model(task, MODEL, {}, ["bad", "good"])


def test_targets_are_encoded_as_the_model_does(monkeypatch):
    task, opened = Generation(path="x"), object()
    folders = []
    monkeypatch.setattr(_model_check, "open_answer_type", lambda folder, config, labels: opened)
    monkeypatch.setattr(Generation, "set_start_model", lambda task, folder: folders.append(folder))
    adapt_to_model(task, MODEL, {}, ["text"])
    assert folders == [MODEL] and task.answer_type is opened
