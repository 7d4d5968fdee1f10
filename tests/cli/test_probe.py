"""`niwaki probe MODEL... --data ROWS`."""

import json

import pytest

from evaluate.probes.sentences import sentences


@pytest.fixture
def rows(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in sentences(60)))
    return path


def test_table_and_json(niwaki, bert_folder, rows):
    given = ("probe", bert_folder, "--data", rows, "--probes", "agreement", "--examples", "80")
    found = json.loads(niwaki(*given, "--json").out)["probes"]["agreement"]
    assert len(found["models"]) == 1 and found["train"] > 30
    assert niwaki(*given).out.splitlines()[1].startswith("agreement")


def test_faults_are_one_line(rejected, bert_folder, rows, tmp_path):
    assert "there is no probe" in rejected("probe", bert_folder, "--data", rows, "--probes", "x", code=2)
    assert "none.jsonl" in rejected("probe", bert_folder, "--data", tmp_path / "none.jsonl")
