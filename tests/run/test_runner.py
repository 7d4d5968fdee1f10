"""A whole recipe: what it writes, that finished stages are reused, and that damage is found and repaired."""

import json
import os
from pathlib import Path

import pytest

from niwaki import api
from niwaki.core.errors import InputError
from niwaki.core.files import fault_in_folder
from niwaki.core.lock import locked
from niwaki.report.card import CARD, LABEL
from run import small

NAMES = ["teacher", "student", "pruned", "int8"]


def charges(run: Path) -> list[dict]:
    lines = [json.loads(line) for line in (run / "ledger.jsonl").read_text().splitlines()]
    return [line for line in lines if line["event"] == "charge"]


def times(run: Path) -> dict[str, int]:
    """Of what belongs to stages; the cards next to the models are written with every report."""
    return {
        str(path): path.stat().st_mtime_ns
        for path in sorted(run.glob("stages/**/*"))
        if path.is_file() and path.name not in (CARD, LABEL)
    }


def stage_folder(run: Path, name: str) -> Path:
    return next(run.glob(f"stages/{name}-*"))


def test_run_folder_has_the_documented_files(finished):
    for name in ("recipe.toml", "plan.json", "ledger.jsonl", "report.html", "report.md", "report.json"):
        assert (finished / name).stat().st_size > 0
    for name in NAMES:
        folder = stage_folder(finished, name)
        assert fault_in_folder(folder) is None
        for file in ("config.json", "model.safetensors", "tokenizer.json", "model.onnx"):
            assert (folder / "model" / file).is_file()
        assert (folder / "train.jsonl").is_file() == (name != "int8")
    assert not [path for path in finished.rglob(".*") if path.name != ".lock"]  # nothing half-written


def test_stages_are_measured_and_get_smaller(finished):
    report = json.loads((finished / "report.json").read_text())
    assert [stage["name"] for stage in report["stages"]] == NAMES
    for stage in (*report["stages"], report["reference"]):
        assert 0 <= stage["score_low"] <= stage["score"] <= stage["score_high"] <= 1
        assert min(stage["bytes"], stage["parameters"], stage["flops"], stage["throughput"]) > 0
        assert stage["latency_ms"]["p50"] <= stage["latency_ms"]["p95"] <= stage["latency_ms"]["p99"]
        assert stage["energy"]
    sizes = [stage["bytes"] for stage in report["stages"]]
    assert sizes == sorted(sizes, reverse=True) and sizes[0] > sizes[-1]


def test_second_run_repeats_no_stage(copy, recipe_file):
    before, spent = times(copy), charges(copy)
    api.run(recipe_file, out=copy)
    assert times(copy) == before
    assert charges(copy) == spent


def test_changed_setting_repeats_only_its_stage(copy, recipe_file):
    before = times(copy)
    api.run(recipe_file, out=copy, overrides=["stages.int8.methods.int8.embeddings=false"])
    after = times(copy)
    assert {name: after[name] for name in before} == before
    assert len(list(copy.glob("stages/int8-*"))) == 2
    assert [line["stage"] for line in charges(copy)[len(charges(copy)) - 2 :]] == ["int8", "race"]


@pytest.mark.parametrize("damage", ["flip", "cut", "missing", "manifest"])
def test_damaged_stage_is_repeated_to_the_same_bits(copy, recipe_file, damage):
    whole = small.weights(copy)
    target = stage_folder(copy, "int8")
    weights = target / "model" / "model.safetensors"
    content = weights.read_bytes()
    if damage == "flip":
        weights.write_bytes(content[:-9] + bytes([content[-9] ^ 1]) + content[-8:])
    elif damage == "cut":
        weights.write_bytes(content[:-100])
    elif damage == "missing":
        (target / "result.json").unlink()
    else:
        (target / "MANIFEST").unlink()
    others = {path: time for path, time in times(copy).items() if "/int8-" not in path}
    api.run(recipe_file, out=copy)
    assert small.weights(copy) == whole
    assert {path: times(copy)[path] for path in others} == others


def test_leftovers_of_a_crash_are_removed(copy, recipe_file):
    left = copy / "stages" / ".teacher-abc.tmp-12345678"
    left.mkdir()
    (left / "part").write_text("half")
    api.run(recipe_file, out=copy)
    assert not left.exists()


@pytest.mark.parametrize("content", ["{", "[]", '{"inputs": 1}'])
def test_damaged_measurement_is_repeated(copy, recipe_file, content):
    (copy / "baseline.json").write_text(content)
    (copy / ".plan.json.tmp-12345678").write_text("half")
    api.run(recipe_file, out=copy)
    assert json.loads((copy / "baseline.json").read_text())["score"]
    assert not (copy / ".plan.json.tmp-12345678").exists()


def test_folder_in_use_is_rejected_with_the_process_id(copy, recipe_file):
    with locked(copy), pytest.raises(InputError, match=f"in use by process {os.getpid()}"):
        api.run(recipe_file, out=copy)


@pytest.mark.parametrize(
    "order",
    [
        '[{ use = "vocabulary", min_count = 9 }, { use = "tinybert" }]',
        '[{ use = "tinybert" }, { use = "vocabulary", min_count = 9 }]',
    ],
)
def test_layers_of_models_with_different_tokens_are_not_compared(copy, recipe_file, order):
    """Whichever comes first; and before the first step."""
    with pytest.raises(InputError, match="different tokens"):
        api.run(recipe_file, out=copy, overrides=[f"stages.student.methods={order}"])
    assert not list((copy / "stages").glob(".work-student-*/checkpoint-*"))


def test_very_large_sizes_are_rejected_by_check(recipe_file):
    for override in ("batch=1000000000000", "batch=65537", "unlabelled=1000000000000", "validations=10000000000"):
        with pytest.raises(InputError, match=r"stages\.0\.train"):
            api.check(recipe_file, overrides=[f"stages.0.train.{override}"])


def test_saved_recipe_gives_the_same_plan(finished):
    planned = json.loads((finished / "plan.json").read_text())["stages"]
    again = api.check(finished / "recipe.toml")["stages"]
    assert [stage["key"] for stage in again] == [stage["key"] for stage in planned]


def test_check_trains_no_stage(recipe_file, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    plan = api.check(recipe_file)
    assert [stage["name"] for stage in plan["estimate"]["stages"]] == NAMES
    assert plan["estimate"]["cpu_seconds"] > 0 and plan["estimate"]["megabytes"] > 0
    assert list(tmp_path.iterdir()) == []
    more = api.check(recipe_file, overrides=["stages.student.train.unlabelled=1000"])["estimate"]["stages"]
    assert [stage["steps"] for stage in more] == [48, 48, 48, 0]  # these rows have no unlabelled texts
