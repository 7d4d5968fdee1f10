"""The model of a fitted estimator: its folder, pickling, and when the folder is removed."""

import os
import pickle

import pytest

from niwaki.estimators import _fitted
from niwaki.estimators._fitted import FittedModel


@pytest.fixture
def folder(tmp_path):
    source = tmp_path / "model"
    (source / "heads" / "ner").mkdir(parents=True)
    (source / "config.json").write_text("{}")
    (source / "heads" / "ner" / "head.safetensors").write_bytes(b"\x00\x01")
    return source


def files(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_a_moved_model_is_removed_with_its_object(folder):
    before = files(folder)
    fitted = FittedModel.moved(folder)
    home = fitted.folder
    assert not folder.exists() and files(home) == before
    del fitted
    assert not home.parent.exists()


def test_a_folder_of_the_user_stays(folder):
    fitted = FittedModel(folder, temporary=False)
    del fitted
    assert folder.is_dir()


def test_pickles_hold_the_files(folder):
    before = files(folder)
    data = pickle.dumps(FittedModel(folder, temporary=False))
    copy = pickle.loads(data)
    assert copy.folder != folder and files(copy.folder) == before
    home = copy.folder.parent
    del copy
    assert not home.exists()


def test_a_forked_child_leaves_the_folder(folder, monkeypatch):
    _fitted._remove(folder, os.getpid() + 1)
    assert folder.is_dir()
    _fitted._remove(folder, os.getpid())
    assert not folder.parent.exists()


def test_the_predictor_is_opened_once(folder, monkeypatch):
    opened = []
    monkeypatch.setattr("niwaki.engines.cascade.open_predictor", lambda path: opened.append(path) or object())
    fitted = FittedModel(folder, temporary=False)
    assert fitted.predictor is fitted.predictor and opened == [folder]
