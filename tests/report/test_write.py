"""From a run folder to the three report files."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from niwaki import report
from niwaki.core import files
from niwaki.core.errors import InputError

from .runs import add_seeds, change, make_full, make_run, write

FIGURES = {
    *("name", "engine", "score", "score_low", "score_high", "score_rows", "scores", "bytes", "parameters", "flops"),
    *("flops_tokens", "throughput", "throughput_low", "throughput_high", "latency_ms", "energy", "seeds"),
}
STAGE = FIGURES | {
    *("finished", "key", "folder", "parent", "teachers", "methods", "training", "choice", "curve", "kept", "ratios"),
    *("reduces", "memory", "versions", "copy_of", "loaded"),
    *("parts", "over_test_sets"),
}
TOP = {
    *("schema", "name", "created", "niwaki", "seed", "model", "task", "metric", "unfinished", "stages", "reference"),
    *("baseline", "baselines_not_run", "baselines", "comparisons", "race", "spent", "reproduce", "verdict", "payback"),
    *("sources", "digest", "cascade"),
}
PAIR = {"difference", "low", "high", "shown", "words"}
BASELINE = {
    "transformer",
    *("name", "kind", "note", "validation", "score", "score_low", "score_high", "score_rows", "scores", "making"),
    "gain",
}
READING = {
    *("seconds", "cpu_seconds", "joules", "joules_low", "joules_high", "marginal_joules", "co2e_grams", "usd"),
    *("tier", "source"),
}


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return make_run(tmp_path / "demo")


@pytest.fixture
def full(tmp_path: Path) -> Path:
    return make_full(tmp_path / "full")


def test_three_files_and_the_returned_value_is_the_json(run: Path) -> None:
    returned = report.write(run)
    assert files.read_json(run / "report.json") == returned
    assert (run / "report.html").read_text().startswith("<!doctype html>")
    assert (run / "report.md").read_text().startswith("# Deploy int8\n\nThe cheapest of 4 models, ")
    assert not list(run.glob(".report*")), "nothing half-written is left"


def test_the_schema_is_the_documented_one(run: Path) -> None:
    check_schema(report.write(run))


def test_a_run_with_all_that_it_can_have_has_the_same_schema(full: Path) -> None:
    result = report.write(full)
    check_schema(result)
    assert len(result["baselines"]) == 4 and all(set(entry) == BASELINE for entry in result["baselines"])
    assert [set(pair) for pair in result["comparisons"]] == [PAIR | {"a", "b"}] * 3
    assert all(entry["gain"] is not None and set(entry["gain"]) == PAIR for entry in result["baselines"])
    for stage in result["stages"]:
        assert set(stage["seeds"]) == {"seeds", "values", "mean", "sd"}
        assert set(stage["parts"]["mismatched"]) == {
            *("metric", "score", "score_low", "score_high", "score_rows", "scores", "seeds"),
        }


def check_schema(result: dict[str, Any]) -> None:
    assert result["schema"] == 1
    assert set(result) == TOP
    assert [stage["name"] for stage in result["stages"]] == ["teacher", "student", "pruned", "int8"]
    for stage in result["stages"]:
        assert set(stage) == STAGE
        assert set(stage["latency_ms"]) == {"p50", "p95", "p99"}
        assert set(stage["energy"]) == {"making", "per_1000", "label"}
        assert all(set(stage["energy"][key]) == READING for key in ("making", "per_1000"))
    assert set(result["reference"]) == FIGURES | {"stage"}
    assert set(result["spent"]) == {"stages", "total", "lost"}
    assert set(result["verdict"]) == {
        "deploy",
        "best",
        "keep",
        "cost",
        "sentence",
        "reasons",
        "transformer",
        "fine_tuning",
    }
    assert set(result["verdict"]["transformer"]) == {"needed", "gain", "sentence", "short"}


def test_every_key_of_the_schema_is_in_the_docs(run: Path) -> None:
    docs = (Path(__file__).parents[2] / "docs" / "report.md").read_text()
    missing = [key for key in sorted(TOP | STAGE | READING | BASELINE | PAIR) if f"`{key}`" not in docs]
    assert not missing


def test_json_has_no_nan(run: Path) -> None:
    speed = (run / "speed.json").read_text().replace("2900.0", "NaN")
    write(run / "speed.json", json.loads(speed))
    result = report.write(run)
    json.loads((run / "report.json").read_text(), parse_constant=pytest.fail)
    assert result["stages"][-1]["throughput"] is None


def test_reference_falls_back_to_the_first_stage(run: Path) -> None:
    reference = report.write(run)["reference"]
    assert (reference["bytes"], reference["score"], reference["throughput"]) == (90_900_000, 0.836, 210.0)
    race = files.read_json(run / "speed.json")
    race["contenders"]["reference"]["bytes"] = 91_000_000
    write(run / "speed.json", race)
    assert report.write(run)["reference"]["bytes"] == 91_000_000


def test_unfinished_stages_are_named_and_have_no_figures(run: Path) -> None:
    result = report.write(run)
    for stage in result["stages"][2:]:
        shutil.rmtree(run / stage["folder"])
    (run / "report.json").unlink()
    result = report.write(run)
    assert result["unfinished"] == ["pruned", "int8"]
    assert result["stages"][3]["score"] is None and not result["stages"][3]["finished"]
    assert result["verdict"]["deploy"] == "student"
    assert "Unfinished:</b> pruned, int8" in (run / "report.html").read_text()


@pytest.mark.parametrize("name", ["speed.json", "baseline.json", "comparisons.json", "ledger.jsonl", "recipe.toml"])
def test_a_file_that_is_not_there_yet_leaves_a_report(full: Path, name: str) -> None:
    (full / name).unlink()
    change(full / "plan.json")
    result = report.write(full)
    assert result["verdict"]["deploy"] == "int8"
    assert (full / "report.html").is_file()


def test_nothing_finished(run: Path) -> None:
    for stage in report.build(run)["stages"]:
        shutil.rmtree(run / stage["folder"])
    for name in ("speed.json", "baseline.json", "ledger.jsonl"):
        (run / name).unlink()
    result = report.write(run)
    assert result["verdict"]["deploy"] is None
    assert "nothing to deploy" in (run / "report.md").read_text()


def test_one_stage(tmp_path: Path) -> None:
    run = make_run(tmp_path / "one", ["teacher"])
    result = report.write(run)
    assert result["verdict"]["deploy"] == "teacher"
    assert result["stages"][0]["ratios"]["throughput"] == pytest.approx(640 / 210)


def test_unknown_energy_is_null_and_named(tmp_path: Path) -> None:
    run = make_run(tmp_path / "dark", energy=False)
    result = report.write(run)
    used = result["stages"][-1]["energy"]["per_1000"]
    assert used["joules"] is None and used["tier"] == "unknown"
    assert result["stages"][-1]["ratios"]["energy"] is None
    assert result["verdict"]["cost"] == "time per text"
    assert "The energy per text is unknown" in (run / "report.html").read_text()


def test_folder_without_a_run_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"plan\.json"):
        report.write(tmp_path)


def test_later_version_is_rejected_and_the_old_report_stays(run: Path) -> None:
    report.write(run)
    before = (run / "report.html").read_bytes()
    change(run / "plan.json", version=2)
    with pytest.raises(InputError, match="version 2"):
        report.write(run)
    assert (run / "report.html").read_bytes() == before


def test_plan_cannot_name_folders_outside_the_run(run: Path) -> None:
    stages = files.read_json(run / "plan.json")["stages"]
    stages[0]["folder"] = "../../elsewhere"
    change(run / "plan.json", stages=stages)
    with pytest.raises(InputError, match="leads out of it"):
        report.write(run)


def test_repeat_cannot_name_folders_outside_the_run(run: Path) -> None:
    add_seeds(run, {1: {"teacher": 0.8}})
    repeats = files.read_json(run / "plan.json")["repeats"]
    repeats[0]["stages"][0]["folder"] = "../../elsewhere"
    change(run / "plan.json", repeats=repeats)
    with pytest.raises(InputError, match="leads out of it"):
        report.write(run)


def test_needs_no_torch(run: Path) -> None:
    code = (
        "import sys; from niwaki import report; report.write(sys.argv[1]);"
        "heavy = {'torch', 'transformers', 'onnxruntime', 'sklearn'} & set(sys.modules); assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code, str(run)], check=True)


def test_the_same_run_gives_the_same_bytes(run: Path) -> None:
    report.write(run)
    first = [(run / f"report.{kind}").read_bytes() for kind in ("json", "html", "md")]
    report.write(run)
    assert first == [(run / f"report.{kind}").read_bytes() for kind in ("json", "html", "md")]
