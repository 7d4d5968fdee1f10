"""Rows with a teacher's answers. Their use in training is tested in tests/run/test_generation.py."""

from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

import tiny
from engines.kinds import model_of
from niwaki.core.errors import InputError
from niwaki.engines.predictor import Predictor
from niwaki.run.recipe_settings import CacheSettings
from niwaki.run.steps import teacher_answers
from niwaki.run.steps.teacher_answers import with_teacher_answers
from niwaki.tasks.classification import Classification
from niwaki.tasks.generation import Generation

TEXTS = [text for text, _ in tiny.sentences(7, seed=3)]
ROWS = pa.table({"text": TEXTS, "target": ["X"] * 7})


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tiny.with_graphs(model_of("text"), tmp_path_factory.mktemp("teacher") / "model")


@pytest.fixture
def job(folder, tmp_path):
    def build(task):
        stage = SimpleNamespace(spec=SimpleNamespace(teachers=["big", "other"]))
        plan = SimpleNamespace(recipe=SimpleNamespace(cache=CacheSettings(gigabytes=0)))
        (tmp_path / "run").mkdir(exist_ok=True)
        return SimpleNamespace(
            plan=plan,
            stage=stage,
            name="student",
            task=task,
            run_folder=tmp_path / "run",
            model_folder={"big": folder}.__getitem__,
            stop_if_requested=lambda: None,
        )

    return build


def test_targets_are_what_the_deployed_first_teacher_generates(job, folder):
    found = with_teacher_answers(job(Generation(path="x")), ROWS)
    assert found.column("text").to_pylist() == TEXTS
    assert found.column("target").to_pylist() == Predictor(folder).values(TEXTS)


def test_answers_are_read_from_the_cache_the_second_time(job, monkeypatch):
    given = job(Generation(path="x"))
    first = with_teacher_answers(given, ROWS)
    monkeypatch.setattr(Predictor, "logits", lambda *given: pytest.fail("was run again"))
    assert with_teacher_answers(given, ROWS) == first


def test_rows_that_take_no_answers_are_rejected(job, monkeypatch, rows_csv):
    task = Classification(path=str(rows_csv))
    monkeypatch.setattr(Classification, "inputs", lambda task, rows: rows.column("text").to_pylist())
    monkeypatch.setattr(
        teacher_answers, "with_cache", lambda *given, always: lambda rows: [{"logits": np.zeros(7)}] * 7
    )
    with pytest.raises(
        InputError, match=r"^task 'classification': its rows cannot be given a teacher's answers; distil"
    ):
        with_teacher_answers(job(task), ROWS)
