"""Stages of a recipe: settings that are impossible or have no effect are rejected."""

import pytest

from niwaki.core.errors import InputError
from run.teaching import TRAIN, learner


def test_activations_of_several_teachers_are_rejected(recipe):
    with pytest.raises(InputError, match=r"follows the layers of one teacher, and stages.2.teacher names 2"):
        recipe({"name": "other"}, learner(methods=[{"use": "tinybert"}], teacher=["teacher", "other"]))


@pytest.mark.parametrize(
    ("train", "message"),
    [
        (
            {"unlabelled": 5, "unlabelled_path": "no/such/file.txt"},
            "train.unlabelled_path: no/such/file.txt: is not there",
        ),
        ({"labelled": False}, "labelled: is false, and there are no other texts"),
        ({"unlabelled_path": "README.md"}, "has no effect while `unlabelled` is 0"),
    ],
)
def test_impossible_train_settings_are_rejected(recipe, train, message):
    with pytest.raises(InputError, match=message):
        recipe(learner(**train))


def test_unlabelled_texts_need_a_teacher(recipe):
    for key in ("unlabelled", "augmentations"):
        with pytest.raises(InputError, match=f"train.{key}: unlabelled texts need a teacher"):
            recipe({"name": "alone", "train": {**TRAIN, key: 3}})


@pytest.mark.parametrize(
    ("stage", "message"),
    [
        (
            {"name": "small", "teacher": "teacher", "methods": [{"use": "int8"}]},
            r"stages\.1\.teacher: has no effect without a train block",
        ),
        (
            learner(methods=[{"use": "tinybert", "prediction": 0.0}], patience=2),
            r"stages\.1\.train\.patience: no method trains answers",
        ),
        (
            learner(methods=[{"use": "cosine"}], patience=2, labelled=False, augmentations=1),
            r"stages\.1\.train\.patience: no method trains answers",
        ),
    ],
)
def test_settings_without_effect_are_rejected(recipe, stage, message):
    with pytest.raises(InputError, match=message):
        recipe(stage)
    recipe(learner(patience=2))


@pytest.mark.parametrize("methods", [[], [{"use": "student", "layers": 2}]])
def test_unused_teacher_is_rejected(recipe, methods):
    with pytest.raises(InputError, match=r"stages\.1\.teacher: no method of the stage uses it"):
        recipe(learner(methods=methods))
    assert recipe(learner(methods=[{"use": "exits", "after": [1]}]))
