"""One real search: a trial of a tiny model in two number formats."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from niwaki.search.result import Searched

SETTINGS = {
    "trials": 1,
    "halvings": 0,
    "keep": 0.3,
    "copies": ["float", "int8"],
    "engines": ["native"],
    "max_p99_ms": 1000,
}


def search(folder: Path, model: Path, **more: object) -> "Searched":
    import niwaki
    import tiny

    rows = tiny.write_csv(folder / "rows.csv", 90)
    return niwaki.search(str(model), str(rows), out=folder / "out", **{**SETTINGS, **more})  # type: ignore[operator]


@pytest.fixture(scope="session")
def searched(tmp_path_factory: pytest.TempPathFactory, bert_folder: Path) -> "Iterator[Searched]":
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda handle: None)
        patch.setattr("niwaki.search.timing.TEXTS", 6)
        yield search(tmp_path_factory.mktemp("searched"), bert_folder)
