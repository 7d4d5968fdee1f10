"""The small recipe with a save after every step, run once by nobody disturbed."""

from pathlib import Path

import pytest

from reliability import aimed
from run import small


@pytest.fixture(scope="session")
def recipe_file(tmp_path_factory: pytest.TempPathFactory, bert_folder: Path, rows_csv: Path) -> Path:
    return small.write_recipe(tmp_path_factory.mktemp("recipe"), bert_folder, rows_csv, epochs=1, save=0.001)


@pytest.fixture(scope="session")
def timed(tmp_path_factory: pytest.TempPathFactory, recipe_file: Path) -> tuple[Path, float]:
    folder = tmp_path_factory.mktemp("undisturbed")
    return folder / "run", aimed.run_alone(recipe_file, folder / "run", folder / "log")


@pytest.fixture
def undisturbed(timed: tuple[Path, float]) -> Path:
    return timed[0]
