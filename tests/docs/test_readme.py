"""The code of README.md runs as printed, with a tiny model and rows under the names it uses."""

import contextlib
import importlib
import io
import re
import shlex
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
PYTHON = re.findall(r"^```python\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
QUICK = ("list", "show", "predict", "doctor")  # commands that need nothing but the compressed model


def quick_commands() -> list[str]:
    """The commands of the README that take seconds and read nothing but what the Python block writes."""
    lines = [line.split("  #")[0].strip() for line in TEXT.splitlines() if line.startswith("niwaki ")]
    return [line for line in lines if line.split()[1] in QUICK and not {"sensitivity", "--in"} & set(shlex.split(line))]


@pytest.fixture(scope="module")
def outputs(bert_folder, rows_csv, tmp_path_factory):
    """What the Python blocks print, and the folder in which they ran."""
    folder = tmp_path_factory.mktemp("readme")
    shutil.copytree(bert_folder, folder / "my-model")
    shutil.copyfile(rows_csv, folder / "reviews.csv")
    found, names = [], {}
    with contextlib.chdir(folder):
        for block in PYTHON:
            output = io.StringIO()
            with contextlib.redirect_stdout(output):
                exec(compile(block, "README.md", "exec"), names)
            found.append(output.getvalue())
    return found, folder


def test_the_python_blocks_run_and_print(outputs):
    found, _ = outputs
    assert len(found) == len(PYTHON) >= 1
    assert "Compressed('small'" in found[0] and found[0].splitlines()[1].endswith("%)")


def test_the_commands_are_found():
    assert {line.split()[1] for line in quick_commands()} == set(QUICK)


@pytest.mark.parametrize("line", quick_commands())
def test_a_quick_command_runs(outputs, line, monkeypatch, capsys):
    from niwaki.cli._app import run

    monkeypatch.chdir(outputs[1])
    assert run(shlex.split(line)[1:]) == 0
    assert capsys.readouterr().out


def test_the_printed_output_is_that_of_the_printed_code(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    newest = importlib.import_module("records").read("readme")[-1]
    assert newest["code"] == PYTHON[0], "the code changed: run benchmarks/readme.py and `make results`"
    assert newest["output"].strip() in TEXT
