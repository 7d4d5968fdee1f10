"""One finished run for all tests of this folder; a copy of it for those that change it."""

import shutil
from pathlib import Path

import pytest
from run import small

from niwaki import api


@pytest.fixture(scope="session")
def recipe_file(tmp_path_factory: pytest.TempPathFactory, bert_folder: Path, rows_csv: Path) -> Path:
    return small.write_recipe(tmp_path_factory.mktemp("recipe"), bert_folder, rows_csv, save=0.1)


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory, recipe_file: Path) -> Path:
    """Made without interruption."""
    return api.run(recipe_file, out=tmp_path_factory.mktemp("finished") / "run").folder


@pytest.fixture
def copy(finished: Path, tmp_path: Path) -> Path:
    shutil.copytree(finished, tmp_path / "run")
    return tmp_path / "run"
