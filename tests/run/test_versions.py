"""A stage records the packages that made it; a later run with others says so and keeps the record."""

import json

import niwaki
from niwaki import api
from niwaki.core import log
from niwaki.run import runner
from niwaki.run.plan import versions


def recorded(run) -> dict[str, dict]:
    results = [json.loads(path.read_text()) for path in run.glob("stages/*/result.json")]
    return {result["stage"]: result for result in results}


def test_every_stage_records_its_versions(finished):
    for result in recorded(finished).values():
        assert result["versions"] == versions() and result["niwaki"] == niwaki.__version__
    report = json.loads((finished / "report.json").read_text())
    assert report["reproduce"]["versions"] == versions() and report["reproduce"]["other_versions"] == {}
    assert json.loads((finished / "speed.json").read_text())["versions"] == versions()


def test_other_versions_are_reported_in_one_line_and_the_record_stays(copy, recipe_file, monkeypatch, capsys):
    before = recorded(copy)
    later = {**versions(), "torch": "99.0"}
    monkeypatch.setattr(runner, "versions", lambda: later)
    monkeypatch.setattr("niwaki.run.plan.versions", lambda: later)
    monkeypatch.setattr("niwaki.run.steps.measure.versions", lambda: later)
    monkeypatch.setattr(log, "_quiet", False)
    changed = ["stages.int8.methods.int8.embeddings=false"]
    report = api.run(recipe_file, out=copy, overrides=changed).report
    lines = [line for line in capsys.readouterr().err.splitlines() if "there already" in line]
    assert len(lines) == 3 and all(f"made with torch {versions()['torch']} (now 99.0)" in line for line in lines)
    after = recorded(copy)
    assert {name: after[name]["versions"] for name in ("teacher", "student", "pruned")} == {
        name: before[name]["versions"] for name in ("teacher", "student", "pruned")
    }
    assert report["reproduce"]["versions"] == versions()
    assert report["reproduce"]["other_versions"] == {"int8": {"torch": "99.0"}}
    assert "Stage int8 was made with torch 99.0." in (copy / "report.md").read_text()
    assert "made with torch 99.0" in (copy / "report.html").read_text()
