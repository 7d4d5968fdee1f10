"""The examples run on a tiny model instead of the bundled one."""

import importlib.util
from pathlib import Path

import pytest

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
    assert sorted(path.stem for path in EXAMPLES.glob("*.py")) == ["own_data", "quickstart"]


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
