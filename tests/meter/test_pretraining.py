"""The energy of a run that others start from, shared among them."""

import pytest

from niwaki.core.documents import write_document
from niwaki.meter import Reading
from niwaki.meter.ledger import Ledger
from niwaki.meter.pretraining import pretraining_of, run_around, sources_of

JOULES = Reading(1.0, 0.5, 6000.0, 3000.0, 9000.0, 700.0, "estimated", "vcpu", 0.1, 0.01)


@pytest.fixture
def runs(tmp_path, monkeypatch):
    """`pretrain`, two runs that start from it in different ways, and one that does not."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "runs"

    def plan(name, **content):
        (folder / name).mkdir(parents=True)
        write_document(folder / name / "plan.json", content)
        Ledger(folder / name / "ledger.jsonl").charge(stage="a", what="train", reading=JOULES)

    plan("pretrain", model="minilm", stages=[])
    (folder / "pretrain" / "stages" / "lm-k" / "model").mkdir(parents=True)
    plan("one", model="runs/pretrain/stages/lm-k/model", stages=[{"model": None}])
    plan("two", model="minilm", stages=[{"model": "runs/pretrain/lm"}, "damaged"])
    plan("other", model="minilm", stages=None)
    return folder


def test_energy_is_divided_by_the_runs_that_start_from_it(runs):
    (found,) = pretraining_of([runs / "one"])
    assert found.run == runs / "pretrain" and found.users == [runs / "one", runs / "two"]
    assert found.to_dict()["joules_per_run"] == 3000
    assert found.line() == f"pretraining: 6 kJ in {runs / 'pretrain'}, shared by 2 runs here: 3 kJ each"
    assert pretraining_of([runs / "other"]) == [] == pretraining_of([runs / "pretrain"])


def test_unknown_energy_is_no_zero(runs):
    Ledger(runs / "pretrain" / "ledger.jsonl").charge(stage="b", what="train", reading=Reading())
    (found,) = pretraining_of([runs / "two"])
    assert found.line().startswith("pretraining: at least 6 kJ")
    (runs / "pretrain" / "ledger.jsonl").unlink()
    assert pretraining_of([runs / "two"]) == []
    Ledger(runs / "pretrain" / "ledger.jsonl").charge(stage="b", what="train", reading=Reading())
    (found,) = pretraining_of([runs / "two"])
    assert "joules unknown" in found.line() and found.to_dict()["joules_per_run"] is None


def test_damaged_plans_name_no_run(runs):
    (runs / "other" / "plan.json").write_text("{")
    assert sources_of(runs / "other") == set()
    assert run_around(runs / "none", runs / "one") is None


def test_paths_are_found_from_another_folder(runs, tmp_path, monkeypatch):
    monkeypatch.chdir("/")
    (found,) = pretraining_of([runs / "one"])
    assert found.run == runs / "pretrain"
