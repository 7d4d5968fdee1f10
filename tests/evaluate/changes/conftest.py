"""Two tiny models with different numbers of layers, and rows of a task with a column of the user's."""

import pytest

import tiny
from niwaki.api.loading import load
from niwaki.evaluate import quality
from niwaki.evaluate.changes import robustness
from niwaki.evaluate.changes.answered import answer
from niwaki.evaluate.changes.comparison import Rows, Side
from niwaki.tasks.classification import Classification


@pytest.fixture(autouse=True)
def _few_draws(monkeypatch):
    monkeypatch.setattr(quality, "RESAMPLES", 20)
    monkeypatch.setattr(robustness, "ROWS", 50)


@pytest.fixture(scope="session")
def predictors(tmp_path_factory):
    folder = tmp_path_factory.mktemp("changes")
    found = {}
    for name, layers, seed in (("a", 2, 0), ("b", 1, 5)):
        (folder / name).mkdir()
        tiny.model("bert", layers=layers, seed=seed).save(folder / name)
        found[name] = load(folder / name, "torch")
    return found


@pytest.fixture(scope="session")
def rows(rows_csv):
    task = Classification(path=str(rows_csv))
    table = task.splits()["train"]
    topics = ["odd" if number % 2 else "even" for number in range(table.num_rows)]
    return Rows(task, table, {"topic": topics}, [[text] for text in task.inputs(table)], True, "other")


@pytest.fixture(scope="session")
def inputs(rows):
    return rows.task.inputs(rows.table)


@pytest.fixture(scope="session")
def answers(predictors, rows, inputs):
    return [answer(predictor, name, rows.task, rows.table, inputs) for name, predictor in predictors.items()]


@pytest.fixture
def sides(predictors):
    return [Side(name, predictor) for name, predictor in predictors.items()]
