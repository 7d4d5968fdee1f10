"""The command line called in this process: exit code, stdout and stderr; and one finished run to ask about."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from cli.recipes import ONE_STAGE
from niwaki.cli._app import run
from niwaki.core import log
from run import small

RECIPE = """\
model = "{model}"
task = "classification"
quantize = []
data = {{ path = "{rows}", max_tokens = 24 }}

[[stages]]
name = "teacher"
train = {{ epochs = 0.5, lr = 1e-3, batch = 16 }}

[[stages]]
name = "int8"
methods = [{{ use = "int8" }}]
"""


class CommandResult(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def faults(self) -> list[str]:
        """The lines that tell what was wrong; progress is none of them."""
        return [line for line in self.err.splitlines() if line.startswith("niwaki: ")]


Command = Callable[..., CommandResult]


@pytest.fixture
def niwaki(capfd: pytest.CaptureFixture[str]) -> Command:
    def call(*arguments: str) -> CommandResult:
        capfd.readouterr()
        code = run([str(argument) for argument in arguments])
        log.quiet()
        out, err = capfd.readouterr()
        assert "Traceback" not in err
        return CommandResult(code, out, err)

    return call


@pytest.fixture
def rejected(niwaki: Command) -> Callable[..., str]:
    """Runs a command that must end with exit code 3 and exactly one line; returns the line."""

    def call(*arguments: str, code: int = 3) -> str:
        result = niwaki(*arguments)
        assert result.code == code, result
        assert result.out == ""
        assert len(result.faults) == 1, result.err
        return result.faults[0]

    return call


@pytest.fixture(scope="package", autouse=True)
def _measure_little() -> Iterator[None]:
    """Runs end with few timings and no process that measures memory: tests/evaluate and tests/docs have those."""
    with pytest.MonkeyPatch.context() as patch:
        small.measure_little(patch)
        yield


@pytest.fixture(scope="session")
def recipe_file(tmp_path_factory: pytest.TempPathFactory, bert_folder: Path, rows_csv: Path) -> Path:
    path = tmp_path_factory.mktemp("recipe") / "two.toml"
    path.write_text(RECIPE.format(model=bert_folder, rows=rows_csv))
    return path


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory, recipe_file: Path) -> Path:
    from niwaki import api

    with pytest.MonkeyPatch.context() as patch:
        small.measure_little(patch)
        return api.run(recipe_file, out=tmp_path_factory.mktemp("cli") / "run").folder


@pytest.fixture
def model(finished: Path) -> Path:
    """The folder of the int8 model."""
    return next(finished.glob("stages/int8-*/model"))


@pytest.fixture
def write_recipe(tmp_path, bert_folder, rows_csv):
    """A recipe of one stage, with another model, other rows or another ending."""

    def write(model: Path | str = bert_folder, rows: Path | str = rows_csv, more: str = "") -> Path:
        path = tmp_path / "recipe.toml"
        path.write_text(ONE_STAGE.format(model=json.dumps(str(model)), rows=json.dumps(str(rows))) + more)
        return path

    return write


@pytest.fixture
def rejected_run(rejected, tmp_path):
    """Runs a recipe that must be rejected; nothing but the lock may be left of the run."""

    def call(recipe: Path | str, *more: str) -> str:
        line = rejected("run", recipe, "--out", tmp_path / "run", *more)
        left = [path.name for path in (tmp_path / "run").rglob("*") if path.is_file()]
        assert set(left) <= {".lock", "recipe.toml", "plan.json", "ledger.jsonl"}, left
        assert not list((tmp_path / "run").glob("stages/*"))
        return line

    return call
