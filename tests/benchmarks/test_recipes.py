"""Figures of recipes come only from records with the settings of the recipe."""

import copy
import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def load(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return importlib.import_module


@pytest.fixture
def record(load):
    """The recorded run of the recipe `narrow`."""
    rows = [row for row in load("records").read("stack") if row["name"] == "narrow+gptq-4"]
    return copy.deepcopy(next(row for row in rows if row["task"] == "rotten_tomatoes"))


def test_a_record_with_the_settings_of_the_recipe_is_used(load, record):
    assert load("render_recipes").last_stage("narrow", record) == "gptq"


@pytest.mark.parametrize(
    ("stage", "change"),
    [
        (0, lambda stage: stage["methods"][0].update(ffn=512)),
        (1, lambda stage: stage["train"].update(epochs=4.0)),
        (3, lambda stage: stage["methods"][0].update(bits=3)),
        (3, lambda stage: stage.update(methods=[])),
    ],
)
def test_a_record_with_other_settings_is_not_used(load, record, stage, change):
    change(record["stages"][stage])
    assert load("render_recipes").last_stage("narrow", record) == ""


def test_the_benchmark_runs_the_stages_of_the_recipes(load):
    stack, shipped = load("stack"), load("shipped")
    for name, recipe in (("narrow+gptq-4", "narrow"), ("terse+qat-2", "terse"), ("slim+int8", "slim")):
        own = [{key: value for key, value in stage.items() if key != "name"} for stage in shipped.stages(recipe)[3:]]
        assert stack.STACKS[name] == own
    assert shipped.stages("fast") == shipped.stages("slim") and shipped.makes_cascade("fast")
    assert shipped.stages("narrow")[:3] == shipped.stages("terse")[:3] == shipped.stages("slim")[:3]


def test_the_recipes_distil_like_the_benchmark(load):
    planned = load("distil_variants").two_phases("rotten_tomatoes", load("distil_variants").HALF)
    for plan, stage in zip(planned, load("shipped").stages("narrow")[1:3], strict=True):
        assert plan["methods"] == stage["methods"]
        assert stage["train"].items() <= plan["train"].items()
