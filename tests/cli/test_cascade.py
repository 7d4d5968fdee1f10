"""`niwaki cascade` through the program, and the folder it makes behind predict and eval."""

import json

import pytest

import tiny
from engines.kinds import saved


@pytest.fixture(scope="module")
def cascade_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cascade")
    rows = tiny.write_csv(folder / "rows.csv", count=400, seed=6)
    return folder, rows, [saved(tiny.model("averaging", seed=1), folder / name) for name in ("cheap", "best")]


def test_cascade_predict_and_eval(niwaki, rejected, cascade_folder, quick_disk):
    folder, rows, models = cascade_folder
    requested = [
        "cascade",
        *models,
        "--data",
        rows,
        "--keep",
        "0.8",
        "--set",
        "data.validation=0.4",
        "--out",
        folder / "both",
    ]
    result = niwaki(*requested, "--quiet")
    assert result.code == 0, result
    assert "1 cheap  100.0%" in result.out and "validation: keeps 100.00% of" in result.out
    assert (
        result.out.rstrip().endswith(f"cascade: {folder / 'both'}") and "shown, 95% sure: at least 80.0%" in result.out
    )
    assert json.loads(niwaki("predict", folder / "both", "a good film", "--json").out)[0]["label"] in tiny.LABELS
    assert json.loads(niwaki("eval", folder / "both", "--data", rows, "--json").out)["rows"] == 60
    lines = niwaki("predict", folder / "both", "--in", rows, "--out", folder / "out.jsonl", "--json")
    assert json.loads(lines.out)["inputs"] == 400
    assert "--force" in rejected(*requested)
    assert json.loads(niwaki(*requested, "--force", "--json").out)["models"][0]["answers"] == 1.0


def test_a_gate_that_is_missed(rejected, cascade_folder, tmp_path):
    _, rows, models = cascade_folder
    line = rejected("cascade", *models, "--data", rows, "--out", tmp_path / "out", code=4)
    assert "do not show" in line and not (tmp_path / "out").exists()
