"""One finished run for all tests of this folder, a copy of it for those that change it, and recipes with teachers."""

import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from niwaki import api
from niwaki.core.json_types import Json
from niwaki.evaluate import quality
from niwaki.run.recipe import parse
from niwaki.run.recipe_settings import Recipe
from run import small
from run.teaching import TRAIN


@pytest.fixture(scope="package", autouse=True)
def _measure_little() -> Iterator[None]:
    """Runs end with few timings and no process that measures memory: tests/evaluate and tests/docs have those."""
    with pytest.MonkeyPatch.context() as patch:
        small.measure_little(patch)
        yield


@pytest.fixture(scope="session")
def recipe_file(tmp_path_factory: pytest.TempPathFactory, bert_folder: Path, rows_csv: Path) -> Path:
    return small.write_recipe(tmp_path_factory.mktemp("recipe"), bert_folder, rows_csv, save=0.1)


@pytest.fixture(scope="session")
def timed(tmp_path_factory: pytest.TempPathFactory, recipe_file: Path) -> tuple[Path, float]:
    """A run made without interruption, without saving between, and without flushing; and the seconds it took."""
    began = time.monotonic()
    rarely = [f"stages.{number}.train.save_seconds=60" for number in range(3)]
    with pytest.MonkeyPatch.context() as patch:
        small.measure_little(patch)
        run = api.run(recipe_file, out=tmp_path_factory.mktemp("finished") / "run", overrides=rarely)
    return run.folder, time.monotonic() - began


@pytest.fixture
def finished(timed: tuple[Path, float]) -> Path:
    return timed[0]


@pytest.fixture
def copy(finished: Path, tmp_path: Path) -> Path:
    shutil.copytree(finished, tmp_path / "run")
    return tmp_path / "run"


@pytest.fixture
def recipe(
    bert_folder: Path, rows_csv: Path, monkeypatch: pytest.MonkeyPatch, quick_disk: None
) -> Callable[..., Recipe]:
    """Builds a recipe with a teacher and other stages, for runs with few resamples that do not flush."""
    monkeypatch.setattr(quality, "RESAMPLES", 10)

    def build(*stages: Json, cache: Json | None = None, **more: object) -> Recipe:
        return parse(
            {
                "model": str(bert_folder),
                "task": "classification",
                "data": {"path": str(rows_csv), "max_tokens": 24},
                "quantize": [],
                "stages": [{"name": "teacher", "train": TRAIN}, *stages],
                "cache": {"stages": False, **(cache or {})},  # every run trains its stages, so they can be compared
                **more,
            }
        )

    return build
