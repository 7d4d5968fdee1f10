"""Descriptions of names, models and runs. The command is tested in tests/cli/test_show.py."""

import json

import pytest

import tiny
from niwaki import describe
from niwaki.core.documents import write_document
from niwaki.core.errors import InputError
from niwaki.describe import show, show_model_files
from niwaki.models.edits.heads import Heads
from report.runs import make_run


@pytest.fixture
def folder(tmp_path):
    model = tiny.model("bert")
    model.apply_edit(Heads(keep=[1, 2, 3]))
    return tiny.with_graphs(model, tmp_path / "model")


def test_a_method_is_shown_with_its_settings():
    value, text = show("logits")
    (temperature,) = [one for one in value["settings"] if one["name"] == "temperature"]
    assert value["kind"] == "methods" and temperature["type"] == "float" and temperature["remark"]
    assert f"temperature = {temperature['default']!r}" in text and value["doc"] in text


def test_a_recipe_is_shown_as_it_is_written():
    value, text = show("few_shot")
    assert value["toml"] in text and "[[stages]]" in value["toml"] and value["family"] == "recipes"


def test_a_task_and_a_recipe_of_one_name_are_both_shown():
    value, text = show("rotten_tomatoes")
    assert value["kind"] == "tasks" and value["also"][0]["toml"] in text


def test_unknown_names_are_pointed_out():
    with pytest.raises(InputError, match=r"^'logit': is neither a folder nor a known name, did you mean 'logits'"):
        show("logit")


def test_the_shape_of_a_model_is_that_of_its_layers(folder):
    value, text = show(str(folder))
    assert (value["family"], value["layers"], value["width"], value["heads"]) == ("bert", 3, 32, [1, 2, 3])
    assert value["neurons"] == [64, 64, 64] and value["labels"] == ["bad", "good"]
    assert value["blueprint"] == [{"edit": "heads", "keep": [1, 2, 3]}] and not value["plain_transformers"]
    assert value["bytes"] == sum(path.stat().st_size for path in folder.iterdir())
    assert "parameters" in text


def test_a_stock_model_loads_in_plain_transformers(bert_folder):
    value, _ = show(str(bert_folder))
    assert value["plain_transformers"] and value["blueprint"] == [] and value["further_heads"] == []


def test_without_torch_the_files_are_described(folder, monkeypatch):
    with_torch, _ = show(str(folder))
    monkeypatch.setattr(describe, "missing_package", lambda package: f"{package} is not installed")
    value, _ = show(str(folder))
    assert value == show_model_files(folder)[0] and "onnx" in value["engines"]
    assert value["stored_numbers"] == with_torch["parameters"] and value["layers"] == 3


@pytest.fixture
def run(tmp_path, quick_disk):
    return make_run(tmp_path / "demo")


def test_the_stages_of_a_run_are_lines(run):
    value, text = show(str(run))
    assert value["model"] == "minilm" and len(value["stages"]) == 4
    first, *lines = text.splitlines()
    assert first == f"{run}: minilm on rotten_tomatoes, seed 13"
    assert [line.split()[:2] for line in lines] == [
        ["teacher", "0.8360"],
        ["student", "0.8260"],
        ["pruned", "0.8220"],
        ["int8", "0.8205"],
    ]
    assert "fine-tune" in lines[0] and "student, logits" in lines[1]


@pytest.mark.parametrize("missing", ["task", "stages", "seed"])
def test_a_plan_without_its_keys_is_rejected(run, missing):
    plan = json.loads((run / "plan.json").read_text())
    write_document(run / "plan.json", {key: plan[key] for key in plan if key not in (missing, "digest", "files")})
    with pytest.raises(InputError, match=r"plan\.json"):
        show(str(run))
