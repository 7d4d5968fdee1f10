"""`niwaki ledger`: charges by stage, run, month or kind."""

import json

import pytest

from niwaki.core.documents import write_document
from niwaki.meter import Reading
from niwaki.meter.ledger import Ledger


@pytest.mark.parametrize("by", ["stage", "run", "month", "what"])
def test_groups_add_up_to_the_total(niwaki, finished, by):
    sums = json.loads(niwaki("ledger", finished, "--by", by, "--json").out)
    assert sums["by"] == by and sums["rows"]
    assert sum(row["charges"] for row in sums["rows"]) == sums["all"]["charges"]
    assert niwaki("ledger", finished, "--by", by).out.splitlines()[-1].startswith("all")


def test_all_runs_are_listed_as_csv(niwaki, finished, monkeypatch, tmp_path):
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "one").symlink_to(finished)
    monkeypatch.chdir(tmp_path)
    rows = niwaki("ledger", "--csv").out.splitlines()
    assert rows[0].startswith("time,run,stage") and len(rows) > 2


def test_the_run_that_a_run_starts_from_is_shared(niwaki, finished, tmp_path):
    user = tmp_path / "user"
    user.mkdir()
    write_document(user / "plan.json", {"model": str(finished / "teacher"), "stages": []})
    Ledger(user / "ledger.jsonl").charge(stage="a", what="train", reading=Reading.zero())
    (found,) = json.loads(niwaki("ledger", user / "ledger.jsonl", "--json").out)["pretraining"]
    assert found["run"] == str(finished) and found["shared_by"] == 1
    assert "pretraining: " in niwaki("ledger", user / "ledger.jsonl").err
