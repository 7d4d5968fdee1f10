"""`niwaki compare`: data on stdout, a page, and the exit code of a missed limit."""

import json

import pytest

import tiny
from niwaki.evaluate import quality
from niwaki.evaluate.changes import robustness


@pytest.fixture(autouse=True)
def _few_draws(monkeypatch):
    monkeypatch.setattr(quality, "RESAMPLES", 20)
    monkeypatch.setattr(robustness, "ROWS", 8)


@pytest.fixture
def command(tmp_path, rows_csv):
    for name, layers, seed in (("a", 2, 0), ("b", 1, 5)):
        (tmp_path / name).mkdir()
        tiny.model("bert", layers=layers, seed=seed).save(tmp_path / name)
    more = ["--data", rows_csv, "--split", "all", "--engine", "torch", "--no-speed", "--out", tmp_path / "page.html"]
    return ["compare", tmp_path / "a", tmp_path / "b", *more]


def test_summary_and_page(niwaki, command, tmp_path):
    result = niwaki(*command, "--max-churn", 100)
    assert result.code == 0 and result.out.startswith("A a, B b, 160 rows\nchurn ")
    assert result.out.endswith(f"page        {tmp_path / 'page.html'}\n")
    assert (tmp_path / "page.html").read_text().startswith("<!doctype html>")


def test_exceeded_limit_ends_with_4_after_the_data(niwaki, command, tmp_path):
    result = niwaki(*command, "--max-churn", 0, "--json")
    found = json.loads(result.out)
    assert result.code == 4 and found["churn"]["changed"]["count"] > 0 and (tmp_path / "page.html").is_file()
    assert result.faults == [f"niwaki: {found['limits']['exceeded'][0]}"] and "the limit is 0 %" in result.faults[0]


def test_faults_of_the_call(niwaki, command):
    assert niwaki(*command, "--max-loss", -1).code == 2
    assert niwaki(*command, "--group", "colour").code == 3
    assert niwaki(*command[:2]).code == 2


def test_stages_of_a_run(niwaki, tmp_path, request):
    run = request.getfixturevalue("finished")
    result = niwaki("compare", run, "--no-speed", "--out", tmp_path / "page.html", "--json", "--split", "test")
    found = json.loads(result.out)
    assert result.code == 0 and [row["name"] for row in found["stages"]] == ["teacher", "int8"]
    assert found["models"]["a"]["name"] == "teacher" and found["models"]["b"]["name"] == "int8"
    result = niwaki("compare", run, "--stage", "in8", "--out", tmp_path / "page.html")
    assert result.code == 3 and "has no finished stage 'in8', did you mean 'int8'?" in result.err
