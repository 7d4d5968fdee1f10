"""Inputs to token ids: windows, limits, and ids that the model does not have."""

import json

import pytest

import tiny
from engines.kinds import LONG, ROWS, model_of, saved
from niwaki.core.errors import InputError
from niwaki.engines import RUNTIMES
from niwaki.engines.predictor import Predictor
from niwaki.engines.runtime import Runtime


def test_long_inputs_are_read_in_windows(tmp_path):
    spans, words = (Predictor(saved(model_of(kind), tmp_path / kind), "torch") for kind in ("span", "tags"))
    rows = spans.tokenize([("the end", LONG), ("the end", ROWS[0])])
    assert len(rows.ids) > 3 and rows.inputs == 2 and rows.ids.lengths.max() <= tiny.POSITIONS
    rows = words.tokenize([LONG.split(), ["film"]])
    assert len(rows.ids) >= 3 and rows.inputs == 2 and rows.ids.lengths.max() <= tiny.POSITIONS


@pytest.mark.parametrize("tokens", [1, 3])
def test_token_limit_without_room_for_text_is_rejected(tmp_path, tokens):
    """The tokenizers library truncates nothing if its special tokens do not fit."""
    tiny.with_graphs(tiny.model("bert", niwaki_max_tokens=tokens), tmp_path)
    with pytest.raises(
        InputError, match=rf"config\.json: texts are truncated to {tokens} tokens, and a pair has 3 special tokens"
    ):
        Predictor(tmp_path)


@pytest.mark.parametrize("engine", ["native", "onnx", "openvino", "torch"])
def test_text_without_tokens_is_rejected_by_number(tmp_path, engine):
    """With a tokenizer without special tokens the answer would depend on the other texts."""
    folder = tiny.deployed(tiny.model("bert"), tmp_path)
    content = json.loads((folder / "tokenizer.json").read_text())
    (folder / "tokenizer.json").write_text(json.dumps({**content, "post_processor": None}))
    if fault := RUNTIMES.load(engine, Runtime).unsupported_reason(folder):
        pytest.skip(fault)
    predictor = Predictor(folder, engine, threads=1)
    assert len(predictor.predict(["a film", "the end"])) == 2
    for texts, number in ((["\x00"], 0), (["a film", "\u200b", "\x00"], 1)):
        with pytest.raises(InputError, match=rf"^texts\.{number}: the tokenizer makes no tokens of it; remove it"):
            predictor.predict(texts)


@pytest.mark.parametrize("engine", ["native", "onnx", "openvino", "torch"])
@pytest.mark.parametrize("family", ["bert", "roberta"])
def test_token_types_beyond_the_model_are_rejected(tmp_path, family, engine):
    folder = tiny.deployed(tiny.model(family, type_vocab_size=1), tmp_path)
    if fault := RUNTIMES.load(engine, Runtime).unsupported_reason(folder):
        pytest.skip(fault)
    predictor, pair = Predictor(folder, engine, threads=1), ("a film", "the end")
    assert len(predictor.predict("a film")) == 1
    if family == "roberta":  # which reads none
        assert len(predictor.predict(pair)) == 1
        return
    with pytest.raises(
        InputError, match=r"tokenizer\.json: gives token type 1, and the model has 1; give single texts"
    ):
        predictor.predict(pair)
