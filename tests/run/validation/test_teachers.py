"""Teachers that have not learned the task are rejected."""

import pytest

from niwaki.core.errors import InputError
from niwaki.run.plan import make_plan
from run.teaching import LOGITS, TRAIN, guest, learner


def test_an_untrained_teacher_is_rejected(recipe, tmp_path):
    """Its folder has a head for three labels, and nothing trains one for two; its layers may be followed all the same."""
    other = {"name": "other", "model": guest(tmp_path / "other", labels=["a", "b", "c"])}
    with pytest.raises(
        InputError, match=r"its teacher 'other' would answer by chance: .*other has no head for the task's 2 labels"
    ):
        make_plan(recipe(other, learner(teacher="other")), "x")
    make_plan(recipe({**other, "train": TRAIN}, learner(teacher="other")), "x")
    make_plan(recipe(other, learner(methods=[{"use": "tinybert", "prediction": 0.0}], teacher="other")), "x")


def test_teacher_with_other_labels_is_rejected(recipe, tmp_path):
    """A head for other labels of the same number does not count. Labels are compared without regard to case."""
    for number, labels in enumerate((["sports", "politics"], ["GOOD", "Bad"])):
        other_labels = recipe(
            {"name": "other", "model": guest(tmp_path / str(number), labels=labels)}, learner(teacher="other")
        )
        if number:
            make_plan(other_labels, "x")
        else:
            with pytest.raises(
                InputError, match=r"would answer by chance: .* has no head for the task's 2 labels \(bad, good\)"
            ):
                make_plan(other_labels, "x")


LAYERS = {"use": "tinybert", "prediction": 0.0}


@pytest.mark.parametrize(
    "stages, message",
    [
        ([learner(teacher="bare", methods=[{"use": "exits", "after": [1]}])], "has no head"),
        ([learner("layers", [LAYERS], "bare", "bare"), learner(teacher="layers")], "has no head"),
        (
            [
                learner("texts", [{"use": "cosine"}], "bare", "bare", labelled=False, augmentations=1),
                learner(teacher="texts"),
            ],
            "has no head",
        ),
        (
            [
                {"name": "fresh", "start": "teacher", "methods": [{"use": "student", "start": "fresh"}]},
                learner(teacher="fresh"),
            ],
            "its head is a new one",
        ),
        ([learner("net", [{"use": "bilstm"}, LOGITS], labelled=False, augmentations=1), learner(teacher="net")], ""),
        ([learner("layers", [LAYERS], "teacher", "teacher"), learner(teacher="layers")], ""),
    ],
)
def test_teacher_must_come_from_a_stage_that_trains_answers(recipe, tmp_path, stages, message):
    bare = {"name": "bare", "model": guest(tmp_path / "bare", labels=["a", "b", "c"])}
    tested = recipe(bare, *stages)
    if not message:
        make_plan(tested, "x")
        return
    with pytest.raises(InputError, match=f"would answer by chance: .*{message}"):
        make_plan(tested, "x")
