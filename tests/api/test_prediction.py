"""Predictions for a file: paths are checked before the model is opened. Streams are tested in tests/engines/test_stream.py."""

import json

import pytest

import tiny
from niwaki import api
from niwaki.api.prediction import answer_file
from niwaki.core.errors import InputError, NiwakiError


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return tiny.with_graphs(tiny.model("bert", layers=1), tmp_path_factory.mktemp("prediction") / "model")


@pytest.fixture
def texts(tmp_path):
    path = tmp_path / "texts.txt"
    path.write_text("".join(f"{text}\n" for text, _ in tiny.sentences(5)))
    return path


def test_every_line_is_answered_in_order(model, texts, tmp_path):
    summary = api.predict_file(model, texts, tmp_path / "out.jsonl", engine="onnx")
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    expected = api.load(model, "onnx").predict(texts.read_text().splitlines())
    assert [line["label"] for line in lines] == [answer.label for answer in expected]
    assert (summary["inputs"], summary["bad"], summary["out"]) == (5, 0, str(tmp_path / "out.jsonl"))


def unopened():
    pytest.fail("the model was opened")


def test_an_output_that_is_there_stays(texts, tmp_path):
    out = tmp_path / "out.jsonl"
    out.write_text("mine\n")
    with pytest.raises(NiwakiError, match=r"out\.jsonl"):
        answer_file(unopened, texts, out, columns=(), skip_bad=False, force=False)
    assert out.read_text() == "mine\n"


def test_columns_of_plain_text_are_rejected_before_the_model_is_opened(texts, tmp_path):
    with pytest.raises(InputError, match=r"has one text per line and no column 'text'; omit --column"):
        answer_file(unopened, texts, tmp_path / "out.jsonl", columns=["text"], skip_bad=False, force=False)


def test_the_source_is_not_overwritten(texts):
    with pytest.raises(NiwakiError):
        answer_file(unopened, texts, texts, columns=(), skip_bad=False, force=True)
    assert texts.read_text()
