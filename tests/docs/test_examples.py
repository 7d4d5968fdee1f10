"""The examples run as they are, on a tiny model instead of the embedded one."""

import importlib.util
from pathlib import Path

import pytest

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
    """No flushes."""


def test_every_example_is_tested():
    assert sorted(path.stem for path in EXAMPLES.glob("*.py")) == ["own_data", "quickstart"]


def test_quickstart(tmp_path, bert_folder, rows_csv, capsys):
    recipe = tmp_path / "tiny.toml"
    recipe.write_text(RECIPE.format(model=bert_folder, rows=rows_csv))
    load("quickstart").main(str(tmp_path / "run"), str(recipe))
    said = capsys.readouterr().out
    assert "Run(" in said and "a film to see twice" in said and "CPU s in" in said


def test_own_data(tmp_path, bert_folder, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    load("own_data").main(str(tmp_path / "own"), str(bert_folder))
    said = capsys.readouterr().out
    assert "about" in said and ("praise" in said or "complaint" in said)
    assert (tmp_path / "own" / "run" / "report.html").is_file()
    assert [path.name for path in tmp_path.iterdir()] == ["own"]
