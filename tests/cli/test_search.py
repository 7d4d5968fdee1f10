"""`niwaki search`: exit codes, and kills that change nothing."""

import json
import random

import pytest

import tiny
from niwaki.search.result import Searched
from run import small
from search.contents import content


@pytest.fixture
def found(monkeypatch, tmp_path):
    values = content()
    monkeypatch.setattr(
        "niwaki.api.search", lambda *given, **more: Searched(tmp_path / "out", tmp_path / "run", values)
    )
    return values


def test_a_search_prints_its_trials_and_the_selected_model(niwaki, found):
    result = niwaki("search", "my-model", "--data", "rows.csv")
    assert result.code == 0 and "selected" in result.out and "trial 1, int8 in native" in result.out
    assert json.loads(niwaki("search", "my-model", "--json").out)["selected"]["trial"] == 1


def test_a_missed_limit_is_named_and_exits_with_4(niwaki, found):
    found["selected"]["missed"] = ["max_mb: size 12 MB, limit 10.0 MB (missed by 20.0%)"]
    result = niwaki("search", "my-model", "--max-mb", "10")
    assert result.code == 4 and result.faults == ["niwaki: search: max_mb: size 12 MB, limit 10.0 MB (missed by 20.0%)"]
    assert "Searched(" in result.out


def test_an_interrupted_search_prints_the_best_so_far(niwaki, found):
    found["interrupted"] = True
    result = niwaki("search", "my-model")
    assert result.code == 130 and "trial 1, int8 in native" in result.out


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["nothing"], 3, "is neither an embedded model"),
        (["nothing.toml"], 3, "is not there"),
        (["rotten_tomatoes", "--set", "search.sampler=tpee"], 3, "search.sampler"),
        (["rotten_tomatoes", "--max-mb", "-3"], 3, "search.max_mb: input should be greater than 0"),
    ],
)
def test_invalid_calls_are_rejected_in_one_line(niwaki, tmp_path, arguments, code, message):
    result = niwaki("search", *arguments, "--out", str(tmp_path / "out"), "--quiet")
    assert result.code == code and len(result.faults) == 1 and message in result.faults[0]
    assert not list(tmp_path.iterdir())


FRONT = ("status", "point", "part_scores", "losses")


def trials_of(folder):
    """Everything of the trials that does not depend on the clock."""
    found = json.loads((folder.parent / "runs" / f"search-{folder.name}" / "search.json").read_text())
    scores = [
        [(one["format"], one["score"], one["bytes"], one["key"]) for one in t.get("variants", [])]
        for t in found["trials"]
    ]
    return [{name: trial.get(name) for name in FRONT} for trial in found["trials"]], scores, found["selected"]["key"]


@pytest.mark.slow  # processes that are killed twenty times, and one that is not
def test_twenty_kills_lead_to_the_same_front(tmp_path):
    model = tmp_path / "model"
    model.mkdir()
    tiny.model("bert", layers=3, ffn=128).save(model)
    rows = tiny.write_csv(tmp_path / "rows.csv", 120)
    words = ["search", str(model), "--data", str(rows), "--keep", "0.3", "--trials", "8", "--max-mb", "0.2", "--json"]
    whole, killed, draw, kills = tmp_path / "whole" / "out", tmp_path / "killed" / "out", random.Random(0), 0
    process = small.begin([*words, "--out", str(whole)], tmp_path / "log")
    process.join()
    assert process.exitcode in (0, 4), (tmp_path / "log").read_text()
    while kills < 20:
        process = small.begin([*words, "--out", str(killed)], tmp_path / "log")
        process.join(draw.uniform(0.3, 2.0))
        if not process.is_alive():
            break
        process.kill()
        process.join()
        kills += 1
    process = small.begin([*words, "--out", str(killed)], tmp_path / "log")
    process.join()
    assert process.exitcode in (0, 4), (tmp_path / "log").read_text()
    assert trials_of(killed) == trials_of(whole)
    assert kills >= 10
