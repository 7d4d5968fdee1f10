"""Runs whose rows are images or generated problems: teacher, student, 8 bits, report, prediction."""

import json

import numpy as np
import pytest

import niwaki
from niwaki.data.image_bytes import encode_array
from niwaki.data.problems._problem import problem_of
from niwaki.run.recipe import parse, to_toml
from niwaki.run.start import run

FRESH = {
    "use": "add_decoder",
    "layers": 1,
    "encoder": "fresh",
    "depth": 1,
    "hidden": 32,
    "heads": 2,
    "ffn_size": 32,
    "shared": True,
}
SHAPE = {"layers": 2, "hidden_size": 32, "heads": 4, "ffn_size": 64}
PIXELS = {"use": "from_scratch", "family": "vit", "image": {"size": 8, "patch": 2, "channels": 1}, **SHAPE}
TRAIN = {"epochs": 4, "batch": 32, "lr": 2e-3, "dropout": 0.0}


def recipe(task, data, first, second, model, folder):
    stages = [
        {"name": "teacher", "methods": first if isinstance(first, list) else [first], "train": TRAIN},
        {"name": "student", "teacher": "teacher", "methods": second, "train": TRAIN},
    ]
    values = {"model": str(model), "task": task, "data": data, "quantize": ["int8"], "race": "short", "stages": stages}
    path = folder / "recipe.toml"
    path.write_text(to_toml(parse(values)))
    return path


@pytest.mark.slow
def test_images_are_trained_distilled_packed_and_answered(bert_folder, tmp_path):
    given = recipe("digits", {}, PIXELS, [{"use": "student", "layers": 1}, {"use": "logits"}], bert_folder, tmp_path)
    found = run(given, out=tmp_path / "run")
    report = json.loads((tmp_path / "run" / "report.json").read_text())
    scores = {stage["name"]: stage["score"] for stage in report["stages"]}
    assert scores["teacher"] > 0.5 and abs(scores["teacher"] - scores["teacher-int8"]) < 0.05
    (tmp_path / "digit.png").write_bytes(encode_array(np.zeros((8, 8), dtype=np.uint8)).data)
    assert niwaki.load(found.model("student-int8")).predict([tmp_path / "digit.png"])[0].label in "0123456789"


@pytest.mark.slow
@pytest.mark.parametrize("task", ["factoring", "constrained_text"])
def test_problems_are_trained_distilled_packed_and_verified(task, bert_folder, tmp_path):
    data = {"pairs": 300, "evaluation_pairs": 20, "beam": 3}
    given = recipe(task, data, FRESH, [{"use": "student", "hidden": 16}, {"use": "sequence_kd"}], bert_folder, tmp_path)
    found = run(given, out=tmp_path / "run")
    answer = niwaki.load(found.model("student-int8")).predict(["plus 1 plus 8 minus 9"])[0]
    assert answer.candidates <= 3 and answer.line().endswith("verified")


@pytest.mark.slow
def test_captions_are_trained_distilled_packed_and_verified(bert_folder, tmp_path):
    """An encoder for images with a decoder behind it, through the same stages as all others."""
    data = {"pairs": 300, "evaluation_pairs": 20, "beam": 3}
    vision = {**PIXELS, "image": {"size": 32, "patch": 8}}
    second = [{"use": "student", "layers": 1, "hidden": 16}, {"use": "logits"}]
    given = recipe("shape_captions", data, [vision, {"use": "add_decoder", "layers": 1}], second, bert_folder, tmp_path)
    found = run(given, out=tmp_path / "run")
    question, _ = problem_of("shape_captions").pair(9, 0)
    (tmp_path / "drawing.png").write_bytes(question.data)
    engines = {engine: niwaki.load(found.model("student"), engine=engine) for engine in ("onnx", "torch")}
    answers = [one.predict([tmp_path / "drawing.png"])[0] for one in engines.values()]
    assert answers[0].text == answers[1].text and answers[0].candidates <= 3
    graph = found.model("student") / "encoder.onnx"
    assert graph.stat().st_size < 100_000, "the graph holds no copy of the weights"
