"""Every verb that reads a run or a model rejects a damaged one with exit code 3 and names the file."""

import json
import shutil
from pathlib import Path

import pytest


@pytest.fixture
def run(finished: Path, tmp_path: Path) -> Path:
    return shutil.copytree(finished, tmp_path / "run")


def edit(path: Path, old: str, new: str) -> Path:
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new, 1))
    return path


def stage(run: Path, name: str) -> Path:
    return next(run.glob(f"stages/{name}-*"))


def edited_score(run: Path) -> Path:
    result = json.loads((stage(run, "int8") / "result.json").read_text())
    return edit(stage(run, "int8") / "result.json", f'"value": {result["score"]["value"]}', '"value": 0.11')


def edited_speed(run: Path) -> Path:
    return edit(run / "speed.json", '"value": ', '"value": 9')


def edited_plan(run: Path) -> Path:
    return edit(run / "plan.json", '"seed": ', '"seed": 1')


def edited_report(run: Path) -> Path:
    deployed = json.loads((run / "report.json").read_text())["verdict"]["deploy"]
    return edit(
        run / "report.json",
        f'"deploy": "{deployed}"',
        '"deploy": "teacher"' if deployed != "teacher" else '"deploy": "int8"',
    )


def swapped_stages(run: Path) -> Path:
    one, two = stage(run, "teacher"), stage(run, "int8")
    for source, target in ((one, run / "aside"), (two, one), (run / "aside", two)):
        source.rename(target)
    return one


def copied_stage(run: Path) -> Path:
    source, target = stage(run, "teacher"), stage(run, "int8")
    shutil.rmtree(target)
    shutil.copytree(source, target)
    return target


def missing_manifest(run: Path) -> Path:
    for path in run.glob("stages/*/MANIFEST"):
        path.unlink()
    return stage(run, "teacher")


def empty_manifest(run: Path) -> Path:
    for path in run.glob("stages/*/MANIFEST"):
        path.write_text("")
    return stage(run, "teacher") / "MANIFEST"


DAMAGE = [
    edited_score,
    edited_speed,
    edited_plan,
    edited_report,
    swapped_stages,
    copied_stage,
    missing_manifest,
    empty_manifest,
]
VERBS = ["report", "predict", "eval", "show", "bench", "export", "cascade", "show sensitivity", "show cost"]


def arguments(verb: str, run: Path, rows: Path) -> list[str]:
    more = {
        "predict": ["a good film"],
        "eval": ["--data", str(rows)],
        "export": ["--to", "onnx", "--out", str(run.parent / "out")],
    }
    more |= {
        "cascade": ["--data", str(rows), "--out", str(run.parent / "out")],
        "show sensitivity": ["--data", str(rows)],
        "show cost": ["--lengths", "8", "--no-compare"],
    }
    return [*verb.split(), str(run), *more.get(verb, [])]


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("verb", VERBS)
def test_damaged_run_is_rejected(niwaki, run, rows_csv, verb, damage):
    path = damage(run)
    before = (run / "report.html").read_bytes()
    output = niwaki(*arguments(verb, run, rows_csv))
    assert output.code == 3 and output.out == "", output
    assert any(str(path) in fault for fault in output.faults), output.faults
    assert (run / "report.html").read_bytes() == before and not (run.parent / "out").exists()


@pytest.mark.parametrize("damage", [swapped_stages, copied_stage, missing_manifest, empty_manifest, edited_score])
def test_model_of_a_damaged_stage_is_rejected(niwaki, run, damage):
    damage(run)
    output = niwaki("predict", stage(run, "int8") / "model", "a good film")
    assert output.code == 3 and len(output.faults) == 1 and "int8-" in output.faults[0], output


@pytest.mark.parametrize("verb", ["report", "predict", "eval", "show"])
def test_intact_run_is_accepted_without_a_notice(niwaki, run, rows_csv, verb):
    output = niwaki(*arguments(verb, run, rows_csv))
    assert output.code == 0 and "MANIFEST" not in output.err, output


def test_running_again_repairs_every_damage(niwaki, run, recipe_file):
    for damage in (edited_speed, edited_plan, edited_report, missing_manifest):
        damage(run)
    output = niwaki("run", recipe_file, "--out", run)
    assert (
        output.code == 0
        and "report.json: is not what was saved" in output.err
        and "speed.json: is not what" in output.err
    )
    assert niwaki("predict", run, "a good film").code == 0


def test_folder_without_manifest_is_used_with_a_notice(niwaki, run, tmp_path):
    assert niwaki("export", run, "--to", "onnx", "--out", tmp_path / "out").code == 0
    sound = niwaki("predict", tmp_path / "out", "a good film")
    assert (sound.code, sound.err) == (0, "")
    config = (tmp_path / "out" / "config.json").read_text()
    (tmp_path / "out" / "config.json").write_text(config + " ")
    output = niwaki("predict", tmp_path / "out", "a good film")
    assert output.code == 3 and "out/config.json: is not what was saved" in output.faults[0]
    (tmp_path / "out" / "config.json").write_text(config)
    (tmp_path / "out" / "MANIFEST").write_text("")
    assert niwaki("predict", tmp_path / "out", "a good film").code == 3
    (tmp_path / "out" / "MANIFEST").unlink()
    output = niwaki("predict", tmp_path / "out", "a good film")
    assert output.code == 0 and output.out == sound.out
    assert output.err.count("\n") == 1 and f"{tmp_path / 'out'}: has no MANIFEST" in output.err


def test_ledger_with_missing_lines_is_rejected(niwaki, run):
    assert niwaki("ledger", run).code == 0
    lines = (run / "ledger.jsonl").read_text().splitlines(keepends=True)
    (run / "ledger.jsonl").write_text("".join(lines[2:]))
    output = niwaki("ledger", run)
    assert output.code == 3 and "ledger.jsonl: lines that report.json was made from" in output.faults[0]
