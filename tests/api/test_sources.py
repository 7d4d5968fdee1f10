"""Everything that stands for a model leads to the same files."""

import pytest
import torch

import tiny
from niwaki.api.sources import model_folder
from niwaki.core.errors import InputError, UsageError
from niwaki.engines.predictor import Predictor
from niwaki.models.model import load_folder


@pytest.fixture(scope="module")
def stock(tmp_path_factory):
    """A folder exactly as transformers saves it."""
    folder, model = tmp_path_factory.mktemp("stock"), tiny.model("bert", layers=1)
    model.network.save_pretrained(folder)
    model.tokenizer.save_pretrained(folder)
    return folder


def transformers_model(stock):
    from transformers import AutoModelForSequenceClassification

    return AutoModelForSequenceClassification.from_pretrained(stock)


def pipeline(stock):
    import transformers

    return transformers.pipeline("text-classification", model=str(stock), device="cpu")


def cross_encoder(stock):
    sentence_transformers = pytest.importorskip("sentence_transformers")
    return sentence_transformers.CrossEncoder(str(stock), device="cpu")


@pytest.mark.parametrize("make", [str, lambda stock: stock, transformers_model, pipeline, cross_encoder, Predictor])
def test_each_form_gives_the_same_weights(stock, tmp_path, make):
    expected, found = load_folder(stock), load_folder(model_folder(make(stock), tmp_path / "scratch"))
    assert found.labels == expected.labels
    weights = found.network.state_dict()
    assert all(torch.equal(value, weights[name]) for name, value in expected.network.state_dict().items())
    assert found.tokenizer.backend_tokenizer.to_str() == expected.tokenizer.backend_tokenizer.to_str()


def test_a_model_without_a_tokenizer_needs_one(tmp_path):
    model = tiny.model("bert", layers=1)
    with pytest.raises(InputError, match="pass it with tokenizer="):
        model_folder(model.network, tmp_path / "scratch")
    assert not (tmp_path / "scratch").exists()
    folder = model_folder(model.network, tmp_path / "scratch", tokenizer=model.tokenizer)
    assert load_folder(folder).labels == tiny.LABELS


@pytest.mark.parametrize("model", [None, 3, object(), ["a"], {"a": 1}, b"model", torch.nn.Linear(2, 2), lambda: None])
def test_other_objects_are_rejected_in_one_line(tmp_path, model):
    with pytest.raises(InputError, match="give a folder, a Hugging Face id") as error:
        model_folder(model, tmp_path / "scratch")
    assert "\n" not in str(error.value) and not list(tmp_path.iterdir())


@pytest.mark.parametrize("model", ["", "  ", "no-such-model", "./nothing"])
def test_paths_that_lead_nowhere_are_rejected(tmp_path, model):
    with pytest.raises((InputError, UsageError)):
        model_folder(model, tmp_path / "scratch")
    assert not list(tmp_path.iterdir())
