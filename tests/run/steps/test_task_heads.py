"""A stage with several tasks: heads in its model folder, scores, exact resume, and recipes that cannot work."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

import niwaki
import tiny
from niwaki import api
from niwaki.answers.labels import Labels
from niwaki.core.errors import InputError
from niwaki.core.files import read_json
from niwaki.core.head_folder import head_names
from niwaki.run.plan import make_plan
from niwaki.run.recipe import parse, to_toml
from niwaki.run.steps import task_heads as module
from niwaki.run.steps.task_heads import tune_threshold
from niwaki.tasks._task import Task
from niwaki.tasks.classification import Classification
from niwaki.train.loop import Interrupted, _Fit
from run import small


@pytest.fixture(scope="module")
def make(tmp_path_factory, bert_folder, rows_csv) -> Callable[..., dict]:
    folder = tmp_path_factory.mktemp("tasks")
    rows = tiny.sentences(120, seed=8)
    numbers, tags = folder / "numbers.csv", folder / "tags.jsonl"
    numbers.write_text("text,score\n" + "".join(f"{text},{len(text)}\n" for text, _ in rows))
    marked = [
        {"words": text.split(), "tags": ["B-X" if word in tiny.GOOD else "O" for word in text.split()]}
        for text, _ in rows
    ]
    tags.write_text("".join(json.dumps(row) + "\n" for row in marked))
    further = [
        {"name": "length", "task": "regression", "data": {"path": str(numbers), "max_tokens": 24}, "weight": 0.5},
        {"name": "words", "task": "tagging", "data": {"path": str(tags), "max_tokens": 24}},
    ]

    def recipe(tasks=further, methods=(), more=None, **train) -> dict:
        stage = {
            "name": "both",
            "methods": list(methods),
            "tasks": tasks,
            "train": {"epochs": 16, "lr": 2e-3, "batch": 16, **train},
        }
        data = {"path": str(rows_csv), "max_tokens": 24}
        settings = {
            "model": str(bert_folder),
            "task": "classification",
            "quantize": [],
            "baselines": False,
            "data": data,
        }
        return {**settings, "race": "short", "stages": [{**stage, **(more or {})}]}

    return recipe


def run(recipe: dict, folder: Path) -> Path:
    file = folder.parent / "recipe.toml"
    file.write_text(to_toml(parse(recipe)))
    api.run(file, out=folder)
    return folder


@pytest.fixture(scope="module")
def done(make, tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        small.measure_little(patch)
        return run(make(), tmp_path_factory.mktemp("run") / "run")


def test_heads_are_saved_and_scored(make, done):
    (stage,) = done.glob("stages/both-*")
    assert head_names(stage / "model") == ["length", "words"]
    result = json.loads((stage / "result.json").read_text())
    assert result["tasks"].keys() == {"length", "words"}
    assert result["training"]["best_score"] > 0.5
    plan = make_plan(parse(make()), "x")
    tasks = {"": plan.task, **plan.stages[0].tasks}
    assert np.mean([validation_score(stage / "model", *one) for one in tasks.items()]) == pytest.approx(
        result["training"]["best_score"], abs=0.05
    )  # training validates in bf16
    heads = niwaki.load_heads(stage / "model", ["main", "length"])
    assert heads.predict(["the film was good"])[0].heads.keys() == {"main", "length"}


def validation_score(folder: Path, head: str, task: Task) -> float:
    table = task.splits()["validation"]
    values = niwaki.load(folder, "onnx", head=head).values(task.inputs(table))
    return task.scorer.scores(task.scorer.example_stats(values, table))[task.metric]


def test_an_interrupted_training_ends_with_the_same_bits(make, done, tmp_path, monkeypatch):
    step = _Fit._step

    def interrupted(self):
        found = step(self)
        if self.state.step == 7:
            self._save()
            raise Interrupted
        return found

    with monkeypatch.context() as patch:
        patch.setattr(_Fit, "_step", interrupted)
        with pytest.raises(KeyboardInterrupt):
            run(make(), tmp_path / "run")
    run(make(), tmp_path / "run")
    ours, theirs = (
        {
            path.relative_to(next(home.glob("stages/both-*"))): path.read_bytes()
            for path in home.glob("stages/both-*/model/**/*.safetensors")
        }
        for home in (tmp_path / "run", done)
    )
    assert len(ours) == 3 and ours == theirs


def test_deltas_train_several_tasks_on_a_frozen_trunk(make, tmp_path):
    recipe = make(methods=[{"use": "lora", "rank": 4, "merge": False}], epochs=1)
    (stage,) = run(recipe, tmp_path / "run").glob("stages/both-*")
    one = niwaki.load(stage / "model", "torch", head="words")
    assert len(one.predict([["a", "good", "film"]])[0].tags) == 3


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"methods": [{"use": "int8"}]}, "'int8' makes the model smaller"),
        ({"methods": [{"use": "rdrop"}]}, "'rdrop' adds to the loss of one task"),
        ({"more": {"train": None}}, "no effect without a train block"),
        ({"objective": "contrastive"}, "trains one task; use 'multi_task'"),
        ({"tasks": [{"name": "a", "data": {"path": "none.csv"}}]}, "none.csv"),
        ({"tasks": [{"name": "a", "data": {"path": "none.csv"}}] * 2}, "'a' is used twice"),
        ({"tasks": [{"name": "all", "data": {"path": "none.csv"}}]}, "'all' means something else"),
        ({"tasks": [{"name": "A b", "data": {"path": "none.csv"}}]}, "name"),
        ({"tasks": [{"name": "a", "task": "tagging", "data": {"pth": "x"}}]}, "pth"),
    ],
)
def test_stages_that_cannot_work_are_rejected_before_any_work(make, changes, message):
    with pytest.raises(InputError, match=message):
        make_plan(parse(make(**changes)), "x")


def test_the_key_of_a_stage_knows_its_tasks(make):
    def key(recipe):
        return make_plan(parse(recipe), "x").stages[0].key

    tasks = make()["stages"][0]["tasks"]
    keys = [key(make()), key(make(tasks=tasks[:1])), key(make(tasks=[{**tasks[0], "weight": 2.0}, tasks[1]]))]
    keys.append(key(make(objective={"use": "multi_task", "temperature": 2.0})))
    assert len(set(keys)) == 4


class Tuned(Classification):
    """Chooses a threshold on the validation rows."""

    seen: ClassVar[list[tuple[int, int]]] = []

    def tuned(self, logits, rows, table):
        self.seen.append((len(logits), table.num_rows))
        return Labels(threshold=0.25)


def test_a_threshold_is_tuned_on_the_saved_model_and_stored(tmp_path, rows_csv):
    model = tiny.model("bert", layers=1)
    tiny.with_graphs(model, tmp_path / "model")
    task = Tuned(path=str(rows_csv))
    tune_threshold(task, model, tmp_path / "model")
    number = task.splits()["validation"].num_rows
    assert Tuned.seen == [(number, number)]
    assert read_json(tmp_path / "model" / "config.json")["niwaki_answer"]["threshold"] == 0.25


def test_tasks_without_thresholds_open_no_model(tmp_path, rows_csv, monkeypatch):
    monkeypatch.setattr(module, "Predictor", lambda folder: pytest.fail("was opened"))
    tune_threshold(Classification(path=str(rows_csv)), tiny.model("bert", layers=1), tmp_path)
