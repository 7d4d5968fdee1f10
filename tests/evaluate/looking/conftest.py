"""Tiny models in folders, opened as `niwaki.look` opens them."""

from collections.abc import Callable
from pathlib import Path

import pytest

import tiny
from niwaki.api.looking import opened, subject_of
from niwaki.core import log
from niwaki.evaluate.looking.subject import Subject
from niwaki.models.model import Model

TEXT = "a good film, was very lovely"


@pytest.fixture
def subject(tmp_path: Path) -> Callable[..., Subject]:
    """The subject for an input and a model, or for a tiny model of a family with further arguments."""

    def make(given: object = TEXT, model: Model | None = None, family: str = "bert", **more: object) -> Subject:
        folder = tmp_path / f"model-{len(list(tmp_path.iterdir()))}"
        folder.mkdir()
        (model or tiny.model(family, **more)).save(folder)
        with log.silenced():
            return subject_of(*opened(folder, "", ""), given)

    return make
