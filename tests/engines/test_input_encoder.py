"""Inputs to token ids: windows, limits, and ids that the model does not have."""

import json

import numpy as np
import pytest

import tiny
from engines.kinds import LONG, ROWS, model_of, saved
from niwaki.answers.image_label import ImageLabel
from niwaki.core.errors import InputError
from niwaki.data.image_bytes import encode_array
from niwaki.engines import RUNTIMES
from niwaki.engines.input_encoder import UnreadableImages
from niwaki.engines.predictor import Predictor
from niwaki.engines.runtime import Runtime
from niwaki.engines.stream import predict_file


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


@pytest.fixture(scope="module")
def images(tmp_path_factory):
    """A saved model for images, and files of which the second holds none."""
    folder = tmp_path_factory.mktemp("images")
    model = tiny.model("vit", niwaki_answer=ImageLabel().to_json())
    (folder / "model").mkdir()
    model.save(folder / "model")
    draw = np.random.default_rng(0)
    for name in "ac":
        pixels = draw.integers(0, 256, (12, 9, 3), dtype=np.uint8)
        (folder / f"{name}.png").write_bytes(encode_array(pixels).data)
    (folder / "b.png").write_bytes(b"no image")
    return folder


def test_images_are_answered_by_path_and_alone_as_together(images):
    predictor = Predictor(images / "model", "torch")
    paths = [images / "a.png", str(images / "c.png")]
    both = predictor.predict(paths)
    assert both[0].label in tiny.LABELS and both[0].probability > 0.5
    alone = [predictor.predict([path])[0].probability for path in paths]
    assert [one.probability for one in both] == pytest.approx(alone, abs=1e-6)


def test_unreadable_images_are_named_or_skipped(images):
    predictor = Predictor(images / "model", "torch")
    paths = [str(images / f"{name}.png") for name in "abc"]
    with pytest.raises(UnreadableImages, match=r"b\.png: cannot be read as an image") as error:
        predictor.predict(paths)
    assert error.value.numbers == [1]
    (images / "paths.txt").write_text("\n".join(paths) + "\n")
    done = predict_file(predictor, images / "paths.txt", images / "out.jsonl", skip_bad=True)
    rows = [json.loads(line) for line in (images / "out.jsonl").read_text().splitlines()]
    assert done["bad"] == 1 and "cannot be read as an image" in rows[1]["error"]
    assert [row["text"] for row in rows] == paths and rows[2]["label"] in tiny.LABELS
    with pytest.raises(InputError, match=r"paths\.txt: line 2 names a file that cannot be read as an image"):
        predict_file(predictor, images / "paths.txt", images / "other.jsonl")
