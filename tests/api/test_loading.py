"""Which model folder a path stands for."""

from types import SimpleNamespace

import pytest

import niwaki
import tiny
from niwaki.api import loading
from niwaki.api.loading import model_path
from niwaki.core.errors import InputError, UsageError


def test_a_folder_stands_for_itself(tmp_path):
    assert model_path(str(tmp_path)) == tmp_path


def test_a_stage_of_a_folder_that_is_no_run_is_rejected(tmp_path):
    with pytest.raises(UsageError, match="has no stage 'student'"):
        model_path(tmp_path, "student")


@pytest.mark.parametrize("path", [None, 3, ["folder"], b"folder"])
def test_a_path_of_another_type_is_rejected(path):
    with pytest.raises(UsageError, match=type(path).__name__):
        niwaki.load(path)


def test_a_missing_folder_is_rejected(tmp_path):
    with pytest.raises(InputError, match="nothing"):
        niwaki.load(tmp_path / "nothing")


def test_a_saved_model_predicts(tmp_path):
    folder = tiny.deployed(tiny.model(layers=1), tmp_path / "model")
    (prediction,) = niwaki.load(folder, "onnx").predict(["a film"])
    assert prediction.label in tiny.LABELS


def test_a_path_below_a_run_names_a_stage(tmp_path, monkeypatch):
    (tmp_path / "plan.json").write_text("{}")
    monkeypatch.setattr(loading.Run, "read", lambda folder: SimpleNamespace(model=lambda stage: folder / f"of {stage}"))
    assert model_path(tmp_path / "student") == tmp_path / "of student"


def test_an_existing_folder_below_a_run_is_not_a_stage(tmp_path):
    (tmp_path / "plan.json").write_text("{}")
    (tmp_path / "student").mkdir()
    assert model_path(tmp_path / "student") == tmp_path / "student"
