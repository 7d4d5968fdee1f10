"""The examples run on a tiny model instead of the bundled one."""

import importlib.util
from pathlib import Path

import pandas as pd
import pytest

import tiny
from engines.kinds import saved
from niwaki.engines.predictor import Predictor
from run import small

EXAMPLES = Path(__file__).parents[2] / "examples"

RECIPE = """\
model = "{model}"
task = "classification"
quantize = []
data = {{ path = "{rows}" }}

[[stages]]
name = "teacher"
train = {{ epochs = 0.3, lr = 1e-3 }}
"""


def load(name: str):
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(autouse=True)
def _quick(quick_disk):
    """Skip flushing to disk."""


def test_every_example_is_tested():
    assert sorted(path.stem for path in EXAMPLES.glob("*.py")) == ["own_data", "quickstart", "spark_udf"]


def test_quickstart_runs_and_predicts(tmp_path, bert_folder, rows_csv, capsys):
    recipe = tmp_path / "tiny.toml"
    recipe.write_text(RECIPE.format(model=bert_folder, rows=rows_csv))
    load("quickstart").main(str(tmp_path / "run"), str(recipe))
    output = capsys.readouterr().out
    assert "Run(" in output and "a film to see twice" in output and "CPU s in" in output


def test_own_data_creates_files_only_in_its_folder(tmp_path, bert_folder, capsys, monkeypatch):
    small.measure_little(monkeypatch)  # the quickstart measures as users do
    monkeypatch.chdir(tmp_path)
    load("own_data").main(str(tmp_path / "own"), str(bert_folder))
    output = capsys.readouterr().out
    assert "about" in output and ("praise" in output or "complaint" in output)
    assert (tmp_path / "own" / "run" / "report.html").is_file()
    assert [path.name for path in tmp_path.iterdir()] == ["own"]


def test_the_function_of_the_spark_example_answers_batches_row_by_row(tmp_path):
    """As Spark calls it: an iterator of series, with other indexes and missing texts. pyspark itself is not installed here."""
    folder = saved(tiny.model("averaging", seed=2), tmp_path / "model")
    batches = [
        pd.Series(["a good film", None, "bad"], index=[7, 8, 9]),
        pd.Series([""]),
        pd.Series(["good", "a bad film"]),
    ]
    found = list(load("spark_udf").answers_of(str(folder))(iter(batches)))
    assert [list(table.index) for table in found] == [[7, 8, 9], [0], [0, 1]]
    assert [table["label"].isna().tolist() for table in found] == [[False, True, False], [True], [False, False]]
    (alone,) = Predictor(folder, threads=1).predict(["bad"])
    assert found[0].loc[9].tolist() == [alone.label, pytest.approx(alone.probability, abs=1e-6)]
