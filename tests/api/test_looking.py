import numpy as np
import pytest

import tiny
from niwaki.api.looking import look, opened, subject_of
from niwaki.core import log
from niwaki.core.errors import InputError, UsageError


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("look")
    tiny.model("bert").save(path)
    return path


def test_one_call_shows_everything(folder, tmp_path):
    tiny.write_csv(tmp_path / "rows.csv", 30)
    with log.silenced():
        found = look(folder, "a good film", data=tmp_path / "rows.csv", top=2)
        pair = look(folder, "a good film\tthe end", from_line=True)
    assert found.not_shown == {} and len(found.neighbours) == 2 and found.neighbours[0]["label"] in tiny.LABELS
    assert pair.given == ("a good film", "the end") and np.asarray(pair.attention).shape[:2] == (3, 4)


def test_bad_arguments_are_named(folder):
    with log.silenced():
        with pytest.raises(UsageError, match="top must be 1"):
            look(folder, "a", top=0)
        with pytest.raises(InputError, match="is not a file"):
            look(folder, "a", data="none.csv")
        with pytest.raises(InputError, match="is empty"):
            look(folder, "  ")
        with pytest.raises(UsageError, match="leave it out"):
            look(folder, "a", word=0)
        with pytest.raises(InputError, match="none"):
            look(folder, "a", head="none")


def test_models_of_images_are_rejected(tmp_path):
    tiny.model("vit", layers=1).save(tmp_path)
    with log.silenced(), pytest.raises(InputError, match="reads images, and look shows what a model does with texts"):
        look(tmp_path, b"image")


def test_a_folder_that_torch_cannot_load_still_answers(folder, tmp_path, monkeypatch):
    def fails(*arguments: object) -> None:
        raise InputError("no torch here")

    monkeypatch.setattr("niwaki.models.model.load_folder", fails)
    tiny.deployed(tiny.model("bert"), tmp_path / "exported")
    with log.silenced():
        predictor, model, reason = opened(tmp_path / "exported", "", "")
        found = look(tmp_path / "exported", "a good film")
    assert model is None and "no torch here" in reason and predictor.engine != "torch"
    assert {"attention", "layers", "integrated_gradients"} <= set(found.not_shown)
    assert found.explained.occlusion and found.answer


def test_masks_become_those_of_the_tokenizer(tmp_path):
    tiny.model("bert", head="MaskedLM").save(tmp_path)
    with log.silenced():
        predictor, model, reason = opened(tmp_path, "", "language_model")
    one = subject_of(predictor, model, reason, "a ___ film")
    assert one.given == "a [MASK] film" and one.kind == "fill"
