"""The cascade that a recipe ends with: made once, opened for the run, made again when damaged, and gone with its section."""

import json
import shutil

import pytest

import niwaki
import tiny
from niwaki import api
from niwaki.core.errors import InputError
from niwaki.core.run_folder import open_run
from niwaki.engines.cascade import Cascade
from niwaki.run import cascade as cascade_module
from niwaki.run import run_cascade
from niwaki.run.model_path import locate_model, model_path
from niwaki.run.recipe import parse, to_toml
from niwaki.run.result import Run

STAGES = [{"name": "teacher", "train": {"epochs": 2, "lr": 2e-3, "batch": 32}}]
CASCADE = {"stages": ["teacher-int8", "teacher"], "keep": 0.9}


@pytest.fixture(scope="module")
def recipe(tmp_path_factory, bert_folder):
    folder = tmp_path_factory.mktemp("cascade-recipe")
    rows = tiny.write_csv(folder / "rows.csv", count=400, seed=6)
    data = {"path": str(rows), "max_tokens": 24, "validation": 0.4, "test": 0.2}

    def build(**more):
        path = folder / "recipe.toml"
        values = {
            "model": str(bert_folder),
            "task": "classification",
            "data": data,
            "quantize": ["int8"],
            "stages": STAGES,
        }
        path.write_text(to_toml(parse({**values, "baselines": False, "race": "short", **more})))
        return path

    return build


@pytest.fixture(scope="module")
def cascade_run(recipe, tmp_path_factory):
    """A finished run whose cascade is faster than its last model."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cascade_module, "TEXTS", 16)
        patch.setattr(run_cascade, "make", faster_cascade)
        return api.run(recipe(cascade=CASCADE), out=tmp_path_factory.mktemp("runs") / "run")


def faster_cascade(*arguments):
    """As `make`, but with a known ratio of the speeds: a measured one varies."""
    summary = cascade_module.make(*arguments)
    summary["speed"]["cascade"]["ratio"] = {"value": 2.0, "low": 1.8, "high": 2.2}
    return summary


@pytest.fixture
def copy(cascade_run, tmp_path, monkeypatch):
    monkeypatch.setattr(cascade_module, "TEXTS", 16)
    monkeypatch.setattr(run_cascade, "make", faster_cascade)
    return shutil.copytree(cascade_run.folder, tmp_path / "run")


def test_the_run_stands_for_its_cascade(cascade_run):
    assert cascade_run.deploy == cascade_run.folder / "cascade" == model_path(cascade_run.folder)
    loaded = niwaki.load(cascade_run.folder)
    assert isinstance(loaded, Cascade) and len(loaded.models) == 2
    single = niwaki.load(cascade_run.folder, stage="teacher")
    texts = [text for text, _ in tiny.sentences(40, seed=9)]
    both = zip(loaded.predict(texts), single.predict(texts), strict=True)
    assert sum(one.label == other.label for one, other in both) >= 36  # at least 90 % of the answers


def test_what_needs_one_network_gets_the_recommended_stage(cascade_run):
    stages = [cascade_run.model(stage["name"]) for stage in cascade_run.stages]
    assert locate_model(str(cascade_run.folder)) in stages and model_path(cascade_run.folder, single=True) in stages


def test_report_and_ledger_contain_the_cascade(cascade_run):
    facts = json.loads((cascade_run.folder / "report.json").read_text())
    cascade = facts["cascade"]
    assert cascade["used"] and cascade["faster"] == 2.0 and cascade["stages"] == CASCADE["stages"]
    assert any("The cascade of teacher-int8 and teacher keeps" in reason for reason in facts["verdict"]["reasons"])
    assert "cascade of teacher" in (cascade_run.folder / "report.md").read_text()
    charges = [json.loads(line) for line in (cascade_run.folder / "ledger.jsonl").read_text().splitlines()]
    assert [line["stage"] for line in charges if line["event"] == "charge"].count("cascade") == 1


def test_second_run_repeats_nothing(copy, recipe):
    before = (copy / "cascade" / "MANIFEST").stat().st_mtime_ns, (copy / "cascade.json").read_bytes()
    api.run(recipe(cascade=CASCADE), out=copy)
    assert ((copy / "cascade" / "MANIFEST").stat().st_mtime_ns, (copy / "cascade.json").read_bytes()) == before


@pytest.mark.parametrize("damage", ["removed", "exchanged"])
def test_damaged_cascade_is_rejected_and_repeated(copy, recipe, damage):
    shutil.rmtree(copy / "cascade")
    if damage == "exchanged":
        (copy / "cascade").mkdir()
        (copy / "cascade" / "MANIFEST").write_text("{}")
    with pytest.raises(InputError, match="not the cascade of this run"):
        open_run(copy)
    assert isinstance(niwaki.load(api.run(recipe(cascade=CASCADE), out=copy).folder), Cascade)


def test_cascade_goes_with_its_section(copy, recipe):
    result = api.run(recipe(), out=copy)
    assert not (copy / "cascade").exists() and not (copy / "cascade.json").exists()
    assert result.report["cascade"] is None and not isinstance(niwaki.load(copy), Cascade)


def test_too_few_rows_leave_no_cascade_but_a_reason(copy, recipe):
    """1 - 0.9999 of a score needs tens of thousands of rows without a loss."""
    result = api.run(recipe(cascade={**CASCADE, "keep": 0.9999}), out=copy)
    assert not (copy / "cascade").exists() and not result.report["cascade"]["used"]
    assert any("There is no cascade: " in reason for reason in result.report["verdict"]["reasons"])
    assert not isinstance(niwaki.load(copy), Cascade) and Run.read(copy).deploy == Run.read(copy).deployed_model
