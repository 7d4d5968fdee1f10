"""Stages whose tasks cannot be trained together. Whole recipes are in tests/run/steps/test_task_heads.py."""

import pytest

from niwaki.core.settings import check
from niwaki.run.recipe_settings import Stage
from niwaki.run.validation.further_tasks import settings_faults

TASK = {"name": "topics", "data": {"path": "rows.csv"}}


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({}, None),
        ({"train": None}, "no effect without a train block"),
        ({"teacher": "first"}, "neither teacher nor alternatives"),
        ({"alternatives": [{}]}, "neither teacher nor alternatives"),
        ({"train": {"augmentations": 1}}, "labelled rows"),
        ({"tasks": [TASK, TASK]}, "'topics' is used twice"),
        ({"tasks": [{**TASK, "name": "main"}]}, "'main' means something else"),
    ],
)
def test_settings_that_exclude_tasks_are_named(changes, fault):
    values = {"name": "both", "tasks": [TASK], "train": {"epochs": 1}, **changes}
    found = list(settings_faults(check(Stage, values, "stage")))
    assert len(found) == (fault is not None) and (fault is None or fault in found[0])
