"""Which tasks can do what. Callers ask with `isinstance`, so a renamed method would silently take an ability away."""

import pytest

from niwaki.tasks import TASKS
from niwaki.tasks import _capabilities as capabilities
from niwaki.tasks._task import Task

GLUE = {"cola", "mnli", "mrpc", "qnli", "qqp", "rte", "sst2", "stsb", "wnli"}
SENSES = {"senses", "wsd"}
GENERATION = {"atis", "cogs", "generation", "geoquery", "multi30k", "parsing", "scan", "translation"}
EMBEDDED = {"imdb", "rotten_tomatoes"}
TASKS_WITH = {
    "AcceptsUnlabelledTexts": GLUE | EMBEDDED | {"ag_news", "classification", "multilabel", "regression"},
    "BringsUnlabelledTexts": EMBEDDED,
    "AcceptsTeacherAnswers": GENERATION,
    "TunesAnswerType": SENSES | {"question_answering", "squad", "squad_v2"},
    "DependsOnStartModel": GENERATION | {"blimp", "denoising", "language_modeling"},
    "BringsFiles": GENERATION | SENSES,
    "AddsTrainRows": SENSES,
    "ReadsOtherFiles": SENSES | {"geoquery"},
}


def protocols():
    found = {name: value for name, value in vars(capabilities).items() if getattr(value, "_is_protocol", False)}
    return {name: value for name, value in found.items() if value.__module__ == capabilities.__name__}


def test_every_capability_is_listed():
    assert protocols().keys() == TASKS_WITH.keys()


@pytest.mark.parametrize("name", TASKS_WITH)
def test_tasks_have_the_capability(name):
    kind = protocols()[name]
    built = {task: TASKS.load(task, Task)(path="" if task in EMBEDDED else "x") for task in TASKS.names()}
    assert {task for task, one in built.items() if isinstance(one, kind)} == TASKS_WITH[name]
