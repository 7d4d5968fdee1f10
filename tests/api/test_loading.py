"""Opening a saved model."""

import pytest

import niwaki
import tiny
from niwaki.core.errors import InputError, UsageError


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
