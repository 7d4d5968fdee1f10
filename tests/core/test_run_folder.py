"""A run is read as a whole: what is damaged, swapped, copied or gone is named, and nothing of the run is used."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from niwaki.core import files
from niwaki.core.documents import read_document, write_document
from niwaki.core.errors import InputError
from niwaki.core.run_folder import fault_in_ledger, open_run

KEYS = {"teacher": "a" * 64, "student": "b" * 64}


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """The smallest run that has everything; `report.json` is written as `niwaki.report` does."""
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "recipe.toml").write_text("seed = 1\n")
    stages = [{"name": name, "key": key, "folder": f"stages/{name}-{key[:12]}"} for name, key in KEYS.items()]
    inputs = {"speed.json": files.fingerprint(list(KEYS.values()))}
    write_document(folder / "plan.json", {"version": 1, "stages": stages, "inputs": inputs}, ["recipe.toml"])
    for stage in stages:
        with files.commit_folder(folder / stage["folder"]) as home:
            (home / "model").mkdir()
            (home / "model" / "weights").write_bytes(stage["key"].encode() * 40_000)
            files.write_json(home / "result.json", {"stage": stage["name"], "key": stage["key"], "score": 0.98})
    write_document(folder / "speed.json", {"inputs": list(KEYS.values()), "texts": 1})
    (folder / "baseline.npy").write_bytes(b"rows")
    write_document(folder / "baseline.json", {"inputs": []}, ["baseline.npy"])
    files.append_line(folder / "ledger.jsonl", {"stage": "teacher"})
    report(folder)
    return folder


def report(folder: Path) -> None:
    write_document(folder / "report.json", {"verdict": "deploy", "sources": open_run(folder, full=True).sources()})


def stage(run: Path, name: str) -> Path:
    return run / "stages" / f"{name}-{KEYS[name][:12]}"


def edit(path: Path, **values: Any) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))


def swap(one: Path, two: Path) -> None:
    aside = one.with_name("aside")
    for source, target in ((one, aside), (two, one), (aside, two)):
        source.rename(target)


def copy_over(source: Path, target: Path) -> None:
    shutil.rmtree(target)
    shutil.copytree(source, target)


DAMAGE = {
    "score edited": (lambda run: edit(stage(run, "teacher") / "result.json", score=0.11), "result.json: is not what"),
    "speed edited": (lambda run: edit(run / "speed.json", texts=2), "speed.json: is not what was saved"),
    "plan edited": (lambda run: edit(run / "plan.json", seed=7), "plan.json: is not what was saved"),
    "report edited": (lambda run: edit(run / "report.json", verdict="other"), "report.json: is not what was saved"),
    "plan without a digest": (lambda run: (run / "plan.json").write_text("{}"), "plan.json: carries no digest"),
    "report emptied": (lambda run: (run / "report.json").write_bytes(b""), "report.json: cannot be read"),
    "baseline.npy cut": (lambda run: (run / "baseline.npy").write_bytes(b"row"), "baseline.npy: is not what"),
    "recipe edited": (lambda run: (run / "recipe.toml").write_text("seed = 2\n"), "recipe.toml: is not what was"),
    "stages swapped": (lambda run: swap(stage(run, "teacher"), stage(run, "student")), "holds another stage"),
    "stage copied": (lambda run: copy_over(stage(run, "teacher"), stage(run, "student")), "holds another stage"),
    "MANIFEST missing": (lambda run: (stage(run, "student") / "MANIFEST").unlink(), "has no MANIFEST"),
    "MANIFEST emptied": (lambda run: (stage(run, "student") / "MANIFEST").write_text(""), "MANIFEST: cannot be read"),
    "MANIFEST of nothing": (
        lambda run: (stage(run, "student") / "MANIFEST").write_text('{"files": {}}'),
        "MANIFEST: is damaged",
    ),
    "weights cut": (
        lambda run: (stage(run, "student") / "model" / "weights").write_bytes(b"1"),
        "weights: is not what",
    ),
    "file added": (lambda run: (stage(run, "student") / "train.jsonl").write_text("{}"), "train.jsonl: was added"),
    "stage missing": (lambda run: shutil.rmtree(stage(run, "student")), "is missing, and report.json was made from it"),
    "speed missing": (lambda run: (run / "speed.json").unlink(), "speed.json: is missing"),
    "ledger missing": (lambda run: (run / "ledger.jsonl").unlink(), "ledger.jsonl: lines that"),
    "ledger cut": (lambda run: (run / "ledger.jsonl").write_text('{"stage": '), "ledger.jsonl: lines that"),
}


def test_a_sound_run_is_read(run):
    found = open_run(run, full=True)
    assert list(found.stages) == [f"stages/{name}-{key[:12]}" for name, key in KEYS.items()]
    assert set(found.measurements) == {"speed.json", "baseline.json"}
    assert found.current_report()["verdict"] == "deploy"
    assert found.result(found.plan["stages"][0])["score"] == 0.98


@pytest.mark.parametrize("name", DAMAGE)
def test_damage_to_any_part_is_named(run, name):
    damage, words = DAMAGE[name]
    damage(run)
    with pytest.raises(InputError) as caught:
        open_run(run)
    assert all(words in fault or "holds another" in fault for fault in caught.value.faults), caught.value.faults
    assert all("; " in fault for fault in caught.value.faults), "each names a way to fix it"


def test_a_bit_in_large_weights_is_found_where_all_is_hashed(run):
    path = stage(run, "student") / "model" / "weights"
    path.write_bytes(b"c" + path.read_bytes()[1:])
    open_run(run)  # loading the model hashes it, opening the run does not
    with pytest.raises(InputError, match="weights: is not what was saved"):
        open_run(run, full=True)


def test_a_sound_measurement_of_another_run_is_rejected(run):
    write_document(run / "speed.json", {"inputs": ["c" * 64], "texts": 1})
    with pytest.raises(InputError, match=r"speed\.json: was measured on other stages or data"):
        open_run(run)


def test_every_fault_is_named_at_once(run):
    (run / "speed.json").write_text("{}")
    (stage(run, "teacher") / "MANIFEST").unlink()
    with pytest.raises(InputError) as caught:
        open_run(run)
    assert len(caught.value.faults) == 2


def test_an_unfinished_run_is_read_without_missing_stages(run):
    for path in (run / "report.json", run / "speed.json"):
        path.unlink()
    shutil.rmtree(stage(run, "student"))
    found = open_run(run)
    assert len(found.stages) == 1 and "speed.json" not in found.measurements
    assert found.result(found.plan["stages"][1]) == {}
    with pytest.raises(InputError, match=r"is not a finished run, it has no report\.json"):
        found.current_report()


def test_a_report_of_another_build_of_a_stage_is_stale(run):
    home = stage(run, "student")
    shutil.rmtree(home)
    with files.commit_folder(home) as existing:
        files.write_json(existing / "result.json", {"stage": "student", "key": KEYS["student"], "score": 0.5})
    found = open_run(run)
    with pytest.raises(InputError, match=r"report\.json: was written before the run changed \(stages\)"):
        found.current_report()
    report(run)
    assert open_run(run).current_report()


def test_the_plan_of_another_run_makes_the_report_stale(run):
    plan = read_document(run / "plan.json")
    plan["stages"][1] = {"name": "other", "key": "c" * 64, "folder": "stages/other-cccccccccccc"}
    write_document(run / "plan.json", {"version": 1, "stages": plan["stages"]})
    with pytest.raises(InputError, match=r"report\.json: was written before the run changed \(plan\)"):
        open_run(run).current_report()


def test_a_ledger_may_grow_and_not_shrink(run):
    files.append_line(run / "ledger.jsonl", {"stage": "student"})
    assert fault_in_ledger(run) is None and open_run(run)
    lines = (run / "ledger.jsonl").read_text().splitlines(keepends=True)
    (run / "ledger.jsonl").write_text(lines[1])
    assert "gone or changed" in fault_in_ledger(run)


@pytest.mark.parametrize("stages", [None, [], "evil", [3], {"a": 1}])
def test_a_plan_without_stages_is_none(run, stages):
    write_document(run / "plan.json", {"version": 1, "stages": stages})
    with pytest.raises(InputError, match=r"plan\.json: names no stages"):
        open_run(run)


def test_a_folder_that_is_no_run(tmp_path):
    with pytest.raises(InputError, match=r"is not a run, it has no plan\.json"):
        open_run(tmp_path)
