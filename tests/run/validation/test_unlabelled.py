"""Unlabelled texts and augmentations that a task cannot use are rejected."""

import pytest

from contracts import task_rows
from niwaki.core.errors import InputError
from niwaki.run.plan import make_plan
from niwaki.run.recipe import parse
from run.teaching import TRAIN, learner, planned


def test_unlabelled_texts_that_a_task_cannot_use_are_rejected(recipe, tmp_path):
    blank, latin, pairs, other = (tmp_path / name for name in ("blank.txt", "latin.txt", "pairs.csv", "notes.md"))
    blank.write_text("\n \n")
    latin.write_bytes(b"one\n" * 500 + "caf\u00e9\n".encode("latin-1"))
    pairs.write_text("premise,hypothesis\nit rains,it is wet\n")
    other.write_text("one\n")
    for path, fault in (
        (blank, "has no texts"),
        (latin, "is not text in UTF-8"),
        (other, "is no file of texts"),
        (pairs, "holds pairs of texts, and task 'classification' is on single texts"),
    ):
        with pytest.raises(InputError, match=f"stage 'learner': .*{path.name}: {fault}"):
            planned(recipe, unlabelled=5, unlabelled_path=str(path))


def test_missing_unlabelled_texts_are_reported(recipe, monkeypatch):
    messages = []
    monkeypatch.setattr("niwaki.run.validation.unlabelled.info", messages.append)
    assert planned(recipe, unlabelled=5)
    assert messages == [
        "stage 'learner': train.unlabelled: task 'classification' brings no unlabelled texts, so none are added; name a file of them in train.unlabelled_path"
    ]
    with pytest.raises(InputError, match=r"brings no unlabelled texts, and train\.labelled is false; name a file"):
        planned(recipe, unlabelled=5, labelled=False)


def test_rows_that_cannot_be_augmented_are_rejected(bert_folder, tmp_path):
    rows = task_rows.write("tagging", tmp_path, count=40)
    stage = learner(augmentations=1)
    with pytest.raises(InputError, match="stage 'learner': task 'tagging': rows whose answers hang on single words"):
        make_plan(
            parse(
                {
                    "model": str(bert_folder),
                    "task": "tagging",
                    "data": {"path": str(rows)},
                    "quantize": [],
                    "stages": [{"name": "teacher", "train": TRAIN}, stage],
                }
            ),
            "x",
        )


def test_unlabelled_texts_for_multiple_choice_are_rejected(bert_folder, tmp_path):
    rows, own = task_rows.write("choice", tmp_path, count=40), tmp_path / "own.txt"
    own.write_text("a film\n")
    stages = [{"name": "teacher", "train": TRAIN}, learner(unlabelled=1, unlabelled_path=str(own))]
    with pytest.raises(
        InputError,
        match=r"stage 'learner': task 'choice': unlabelled texts cannot be added to it; set train\.unlabelled = 0",
    ):
        make_plan(
            parse(
                {
                    "model": str(bert_folder),
                    "task": "choice",
                    "data": {"path": str(rows)},
                    "quantize": [],
                    "stages": stages,
                }
            ),
            "x",
        )
