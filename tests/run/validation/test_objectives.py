"""The objective of a stage: validated with the recipe, and part of the stage key."""

from dataclasses import replace

import pytest

from niwaki.core.errors import InputError
from niwaki.objectives.supervised import Supervised
from niwaki.run.plan import make_plan
from niwaki.run.recipe import parse


@pytest.fixture
def values(bert_folder, rows_csv):
    return {
        "model": str(bert_folder),
        "task": "classification",
        "data": {"path": str(rows_csv)},
        "quantize": [],
        "stages": [{"name": "a", "train": {"epochs": 1, "precision": "fp32"}}],
    }


def key_of(values):
    return make_plan(parse(values), "x").stages[0].key


def test_supervised_is_the_default():
    assert parse({"stages": [{"name": "a", "train": {}}]}).stages[0].train.objective == "supervised"


def test_an_unknown_objective_is_rejected_with_a_suggestion():
    with pytest.raises(InputError) as caught:
        parse({"stages": [{"name": "a", "train": {"objective": "supervized"}}]})
    (problem,) = caught.value.faults
    assert problem.startswith(
        "stages.0.train.objective: objective 'supervized' is not known, did you mean 'supervised'?"
    )


def test_the_version_of_an_objective_is_part_of_the_stage_key(values, monkeypatch):
    before = key_of(values)
    assert key_of(values) == before
    monkeypatch.setattr(Supervised, "version", 2)
    assert key_of(values) != before


def test_micro_shards_are_part_of_the_key_unless_there_is_only_one(values):
    before = key_of(values)
    values["stages"][0]["train"]["micro_shards"] = 1
    assert key_of(values) == before
    values["stages"][0]["train"]["micro_shards"] = 2
    assert key_of(values) != before


@pytest.mark.parametrize(
    ("train", "message"),
    [
        (
            {"micro_shards": 9, "batch": 8},
            "train.micro_shards: a batch of 8 rows cannot be cut into 9 parts; take at most 8",
        ),
        ({"micro_shards": 2, "objective": "contrastive"}, "objective 'contrastive' compares the rows of a batch"),
    ],
)
def test_micro_shards_that_would_give_another_loss_are_rejected(values, train, message):
    values["stages"][0] |= {"train": train, "methods": [{"use": "linear_head"}]}
    with pytest.raises(InputError) as caught:
        make_plan(parse(values), "x")
    assert any(message in fault for fault in caught.value.faults), caught.value.faults


def test_an_objective_with_another_head_is_rejected(values, monkeypatch):
    head = property(lambda self: replace(self.task.head, labels=["mask"] * 9))
    monkeypatch.setattr(Supervised, "head", head)
    with pytest.raises(
        InputError, match=r"stage 'a': train\.objective: 'supervised' trains .* with 9 outputs, and task"
    ):
        make_plan(parse(values), "x")
