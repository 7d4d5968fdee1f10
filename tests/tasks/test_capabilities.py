"""Which tasks can do what. Callers ask with `isinstance`, so a renamed method would silently take an ability away."""

import pytest

from niwaki.tasks import TASKS
from niwaki.tasks import _capabilities as capabilities
from niwaki.tasks._task import Task

WITH_AND_WITHOUT = {  # capability → tasks that have it, and others; tasks derived from these inherit it
    "AcceptsUnlabelledTexts": (("classification", "regression", "multilabel"), ("tagging", "generation", "choice")),
    "BringsUnlabelledTexts": (("imdb", "rotten_tomatoes"), ("classification",)),
    "AcceptsTeacherAnswers": (("generation", "translation", "scan"), ("classification", "denoising")),
    "TunesAnswerType": (("question_answering", "senses"), ("classification", "tagging")),
    "DependsOnStartModel": (("generation", "language_modeling", "denoising"), ("classification", "roles")),
    "BringsFiles": (("generation", "senses"), ("classification", "language_modeling")),
    "AddsTrainRows": (("senses",), ("classification", "roles")),
    "ReadsOtherFiles": (("senses", "geoquery"), ("classification", "scan")),
}


def protocols():
    found = {name: value for name, value in vars(capabilities).items() if getattr(value, "_is_protocol", False)}
    return {name: value for name, value in found.items() if value.__module__ == capabilities.__name__}


def test_every_capability_is_listed():
    assert protocols().keys() == WITH_AND_WITHOUT.keys()


@pytest.mark.parametrize("name", WITH_AND_WITHOUT)
def test_tasks_have_the_capability(name):
    for tasks, has in zip(WITH_AND_WITHOUT[name], (True, False), strict=True):
        for task in tasks:
            assert isinstance(TASKS.load(task, Task)(path="x"), protocols()[name]) == has, task
