"""Texts that a stage trains on: labelled rows, unlabelled texts, augmented copies."""

import pytest

import tiny
from contracts import task_rows
from niwaki.core.errors import InputError
from niwaki.core.files import read_json
from niwaki.run.plan import make_plan
from niwaki.run.recipe import parse
from run.teaching import learner, run


def test_unlabelled_texts_and_augmented_copies_are_trained_on(recipe, tmp_path):
    own = tmp_path / "own.txt"
    own.write_text("".join(f"{text}\n" for text, _ in tiny.sentences(40, seed=9)))
    added = {"unlabelled": 32, "unlabelled_path": str(own)}
    rows, more, copied, only = (
        read_json(run(recipe(learner(**train)), tmp_path / "run")[-1] / "result.json")["training"]["steps"]
        for train in ({}, added, {"augmentations": 2}, {**added, "labelled": False})
    )
    assert only == 2 and more == pytest.approx(rows + 2, abs=1) and copied == pytest.approx(3 * rows, abs=2)


def test_evaluation_rows_are_excluded_from_unlabelled_texts(recipe, tmp_path, monkeypatch):
    """Whatever their case and spacing: training on them would inflate the score."""
    own, train = (
        tmp_path / "own.txt",
        {"unlabelled": 500, "unlabelled_path": str(tmp_path / "own.txt"), "labelled": False},
    )
    own.write_text("a film\n")
    task = make_plan(recipe(learner(**train)), "x").task
    evaluated = [task.inputs(task.splits()[part])[0] for part in ("validation", "test")]
    own.write_text("".join(f" {text.upper().replace(' ', '  ')}\n" for text in evaluated))
    with pytest.raises(
        InputError, match=r"stage 'learner': train.unlabelled_path: all 2 texts are validation or test rows"
    ):
        make_plan(recipe(learner(**train)), "x")
    with own.open("a") as file:
        file.writelines(f"a film {number}\n" for number in range(16))
    messages = []
    monkeypatch.setattr("niwaki.run.steps.training_data.info", messages.append)
    *_, stage_folder = run(recipe(learner(**train)), tmp_path / "run")
    assert read_json(stage_folder / "result.json")["training"]["steps"] == 1  # of 16 rows, not 18
    *_, few = run(recipe(learner(**{**train, "unlabelled": 3})), tmp_path / "few")  # none of them is sampled
    assert read_json(few / "result.json")["training"]["steps"] == 1
    assert "learner: 2 unlabelled texts are validation or test rows, and are excluded" in messages


def test_stage_key_depends_on_the_unlabelled_texts_and_not_on_their_path(recipe, tmp_path):
    own = tmp_path / "own.txt"
    own.write_text("one\ntwo\n")
    two_texts = recipe(learner(unlabelled=2, unlabelled_path=str(own)))
    first = make_plan(two_texts, "x").stages[1].key
    own.rename(tmp_path / "moved.txt")
    assert (
        make_plan(recipe(learner(unlabelled=2, unlabelled_path=str(tmp_path / "moved.txt"))), "x").stages[1].key
        == first
    )
    (tmp_path / "moved.txt").write_text("one\nthree\n")
    assert (
        make_plan(recipe(learner(unlabelled=2, unlabelled_path=str(tmp_path / "moved.txt"))), "x").stages[1].key
        != first
    )


def test_rows_with_answers_per_word_are_not_augmented(bert_folder, tmp_path):

    path = task_rows.write("tagging", tmp_path)
    stages = [{"name": "teacher"}, learner(augmentations=1)]
    tagging = parse(
        {"model": str(bert_folder), "task": "tagging", "data": {"path": str(path)}, "quantize": [], "stages": stages}
    )
    with pytest.raises(InputError, match="rows whose answers hang on single words cannot be augmented"):
        run(tagging, tmp_path / "run")
