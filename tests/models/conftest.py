"""Fixtures of the tests of models: folders to damage."""

import shutil

import pytest

import tiny
from niwaki.models.edits.heads import Heads


@pytest.fixture
def folder(bert_folder, tmp_path):
    """A copy to damage."""
    return shutil.copytree(bert_folder, tmp_path / "model")


@pytest.fixture
def edited(tmp_path):
    """A model with a blueprint, to damage."""
    model = tiny.model("bert")
    model.apply_edit(Heads(keep=[[0, 2], [1], [3]]))
    (tmp_path / "edited").mkdir()
    model.save(tmp_path / "edited")
    return tmp_path / "edited"
