"""Every kind of task through every stage: fine-tuned, distilled in two ways, pruned, packed, saved, exported, run, scored."""

import json
import os

import numpy as np
import pytest
import torch

import tiny
from niwaki import api
from niwaki.core.files import fault_in_folder, read_json
from niwaki.evaluate import quality
from niwaki.meter.ledger import Ledger
from niwaki.models.forward import forward
from niwaki.models.model import load_folder
from niwaki.run.plan import Plan, make_plan
from niwaki.run.recipe import parse
from niwaki.run.runner import run_stage
from niwaki.tasks import TASKS
from niwaki.tasks._language_model_task import LanguageModelTask
from niwaki.tasks._task import Task

from . import task_rows

TRAIN = {"epochs": 1, "batch": 16, "lr": 2e-3, "precision": "fp32", "dropout": 0.0}
STAGES = [
    {"name": "teacher", "train": {**TRAIN, "epochs": 8, "lr": 4e-3}},
    {
        "name": "student",
        "teacher": "teacher",
        "methods": [{"use": "student", "layers": 2}, {"use": "logits"}],
        "train": TRAIN,
    },
    {
        "name": "follower",
        "start": "teacher",
        "teacher": "teacher",
        "methods": [{"use": "student", "layers": 1}, {"use": "tinybert"}],
        "train": TRAIN,
    },
    {
        "name": "recurrent",
        "start": "teacher",
        "teacher": "teacher",
        "train": TRAIN,
        "methods": [{"use": "bilstm", "width": 16, "units": 8, "ffn_size": 16}, {"use": "logits"}],
    },
    {
        "name": "pruned",
        "start": "student",
        "teacher": "teacher",
        "train": TRAIN,
        "methods": [
            {"use": "vocabulary"},
            {"use": "heads", "keep": 0.5},
            {"use": "ffn", "keep": 0.5, "multiple": 8},
            {"use": "logits"},
        ],
    },
    {"name": "int8", "methods": [{"use": "int8"}]},
]
NAMES = [stage["name"] for stage in STAGES]
OTHER_METHODS = {
    "generation": {
        "teacher": [task_rows.ADD_DECODER],
        "recurrent": [{"use": "decoder", "count": 1}, {"use": "sequence_kd"}],
    },
    "image_classification": {  # no words: no vocabulary, and no networks that read words one by one
        "recurrent": [{"use": "student", "hidden": 16}, {"use": "logits"}],
        "pruned": [{"use": "heads", "keep": 0.5}, {"use": "ffn", "keep": 0.5, "multiple": 8}, {"use": "logits"}],
    },
}  # by task and stage


def stages_for(task: str) -> list[dict]:
    other = OTHER_METHODS.get(task, {})
    return [{**stage, **({"methods": other[stage["name"]]} if stage["name"] in other else {})} for stage in STAGES]


@pytest.fixture(scope="module", params=task_rows.TASKS)
def chain(request, tmp_path_factory, bert_folder):
    """A kind of task with all its stages made, as a run makes them; and the file its rows are in."""
    folder = tmp_path_factory.mktemp(request.param)
    model = bert_folder
    if request.param == "image_classification":
        model = folder / "vit"
        model.mkdir()
        tiny.model("vit").save(model)
    rows = task_rows.write(request.param, folder, count=110)
    data = {"path": str(rows), **task_rows.SHORT.get(request.param, {})}
    plan = make_plan(
        parse(
            {
                "model": str(model),
                "task": request.param,
                "data": data,
                "quantize": [],
                "stages": stages_for(request.param),
            }
        ),
        "x",
    )
    (folder / "stages").mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(quality, "RESAMPLES", 20)
        patch.setattr(os, "fsync", lambda handle: None)
        for stage in plan.stages:
            run_stage(plan, stage, folder, Ledger(folder / "ledger.jsonl"), lambda: False)
    return plan, folder, rows


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    monkeypatch.setattr(quality, "RESAMPLES", 20)


def test_every_kind_of_task_is_covered():
    """Tasks of language models have no labels and no teachers: tests/run/test_pretraining.py takes them through a run."""
    tasks = [TASKS.load(name, Task) for name in TASKS.names()]
    layouts = {task.table.layout for task in tasks if not issubclass(task, LanguageModelTask)}
    assert layouts == {TASKS.load(name, Task).table.layout for name in task_rows.TASKS}


def stage_folder(plan: Plan, folder, name):
    return folder / plan.stage(name).folder


def test_every_stage_is_whole_scored_and_equal_in_its_engine(chain):
    plan, folder, _ = chain
    results = [read_json(stage_folder(plan, folder, name) / "result.json") for name in NAMES]
    rows = plan.task.splits()["test"].num_rows
    for name, result in zip(NAMES, results, strict=True):
        assert fault_in_folder(stage_folder(plan, folder, name)) is None
        assert result["engine"] == "onnx" and result["score"]["rows"] == rows > 10
        assert result["score"]["low"] <= result["score"]["value"] <= result["score"]["high"], name
        assert result["parity"] < (0.5 if name == "int8" else 1e-3)
    bytes_of = {name: result["bytes"] for name, result in zip(NAMES, results, strict=True)}
    assert bytes_of["teacher"] > bytes_of["student"] > bytes_of["pruned"] > bytes_of["int8"]


def test_the_teacher_learnt_something(chain):
    """The loss of every kind leads somewhere."""
    plan, folder, _ = chain
    lines = (stage_folder(plan, folder, "teacher") / "train.jsonl").read_text().splitlines()
    losses = [line["loss"] for line in map(json.loads, lines) if line["kind"] == "step"]
    assert losses[-1] < 0.9 * losses[0]


@pytest.mark.parametrize("name", NAMES)
@torch.no_grad()
def test_what_is_saved_loads_to_equal_outputs_and_knows_its_answers(chain, tmp_path, name):
    plan, folder, _ = chain
    model = load_folder(stage_folder(plan, folder, name) / "model")
    model.save(tmp_path)
    again = load_folder(tmp_path)
    batch = tiny.batch(model, pairs=True)
    logits = forward(model.anatomy, batch).logits
    assert torch.equal(forward(again.anatomy, batch).logits, logits) and torch.isfinite(logits).all()
    assert model.labels == again.labels == plan.task.labels
    assert model.anatomy.head.architecture == plan.task.head.architecture
    saved_answer = again.network.config.niwaki_answer
    assert saved_answer["kind"] == plan.task.answer and saved_answer.keys() == plan.task.answer_type.to_json().keys()


@pytest.mark.parametrize("name", ["teacher", "int8"])
def test_a_saved_model_and_a_file_of_what_it_says_score_alike(chain, tmp_path, name):
    plan, folder, rows = chain
    model = stage_folder(plan, folder, name) / "model"
    overrides = [f"data.{key}={value}" for key, value in task_rows.SHORT.get(plan.task.table.layout, {}).items()]
    found = api.evaluate(model, data=rows, overrides=overrides)
    assert found["task"] == plan.task.name  # known by its columns
    recorded = read_json(model.parent / "result.json")["score"]
    assert {key: score["value"] for key, score in found["all"].items()} == pytest.approx(
        {key: score["value"] for key, score in recorded["all"].items()}
    )
    values = api.load(model, "onnx").values(plan.task.inputs(plan.task.splits()["test"]))  # as `evaluate` does
    prediction_file = tmp_path / "predictions.jsonl"
    prediction_file.write_text("".join(f"{json.dumps({'prediction': value})}\n" for value in values))
    from_file = api.evaluate(predictions=prediction_file, data=rows, overrides=overrides, against=model)
    assert {**from_file, "against": None} == {**found, "against": None}
    paired = from_file["against"]["paired"]
    assert (paired["difference"], paired["low"], paired["high"], paired["shown"]) == (0, 0, 0, False)


def test_answers_from_both_engines_are_of_the_kind_and_in_order(chain):
    plan, folder, _ = chain
    inputs = plan.task.inputs(plan.task.splits()["test"])
    model = stage_folder(plan, folder, "pruned") / "model"
    onnx, by_torch = (api.load(model, engine).values(inputs) for engine in ("onnx", "torch"))
    assert len(onnx) == len(inputs)
    if plan.task.answer == "number":
        np.testing.assert_allclose(onnx, by_torch, rtol=1e-4)
        assert 0 < np.mean(onnx) < 2000  # in the units of the rows
    else:
        assert onnx == by_torch
    assert len(api.load(model).predict(inputs[:3])) == 3
