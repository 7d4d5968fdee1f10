"""The bench: streams of texts of fixed lengths, every model and engine in every stream."""

import pytest

import tiny
from niwaki import api
from niwaki.core.errors import InputError
from niwaki.core.files import write_json
from niwaki.engines.native.library import best
from niwaki.engines.predictor import Predictor
from niwaki.evaluate import bench


@pytest.fixture
def folder(tmp_path):
    return tiny.deployed(tiny.model("bert"), tmp_path / "mine")


@pytest.fixture(autouse=True)
def few(monkeypatch):
    monkeypatch.setattr(bench, "COUNTS", dict.fromkeys(bench.STREAMS, 6))


@pytest.mark.parametrize("stream", ["short", "128", "384"])
def test_stream_texts_have_their_length(folder, stream):
    tokens = bench.STREAMS[stream]
    predictor = Predictor(folder, "torch", max_tokens=tokens)
    assert set(predictor.tokenize(bench.texts_of(stream, 5)).ids.lengths.tolist()) == {tokens}


def test_mixed_stream_has_sentences_in_order():
    texts = bench.texts_of("mixed", 50)
    assert len(texts) == 50 and len({len(text.split()) for text in texts}) > 10


def test_every_engine_runs_in_every_stream(folder):
    result = api.bench([folder], streams=["mixed", "short"], threads=1)
    names = {"mine onnx", "mine openvino"} | ({"mine native"} if best() else set())
    for part in result["streams"].values():
        assert set(part["contenders"]) == names
        for one in part["contenders"].values():
            assert one["throughput"]["low"] <= one["throughput"]["value"] <= one["throughput"]["high"]
            assert 0 < one["latency_ms"]["p50"] <= one["latency_ms"]["p99"]
        assert part["contenders"]["mine onnx"]["ratio"]["value"] == pytest.approx(1.0)


@pytest.fixture
def cascade(tmp_path):
    folder = tmp_path / "both"
    for number, family in enumerate(("averaging", "bert")):
        (folder / f"model-{number}").mkdir(parents=True)
        tiny.deployed(tiny.model(family, seed=number, layers=1), folder / f"model-{number}")
    steps = [{"folder": "model-0", "threshold": 0.6}, {"folder": "model-1"}]
    write_json(folder / "cascade.json", {"version": 1, "steps": steps})
    return folder


def test_cascade_is_timed_with_models_under_its_name(folder, cascade):
    """In the engines that all its models have: the mean of vectors has no program for the native one."""
    result = api.bench([folder, cascade], engines=["onnx"], streams=["short"], threads=1)
    assert list(result["streams"]["short"]["contenders"]) == ["mine onnx", "both onnx"]
    result = api.bench([cascade], streams=["mixed"], threads=1)
    assert set(result["streams"]["mixed"]["contenders"]) == {"both onnx", "both openvino"}


def test_every_model_of_a_cascade_reads_what_the_stream_gives(cascade):
    opened = bench.open_predictor(cascade, "onnx", 1, 12)
    assert [model.max_tokens for model in opened.models] == [12, 12]
    rows = opened.tokenize(bench.texts_of("128", 3))
    assert set(rows.ids.lengths.tolist()) == {12}


@pytest.mark.parametrize(("family", "longest"), [("bert", 130), ("roberta", 128)])
def test_too_long_streams_are_rejected_or_left_out(tmp_path, family, longest):
    """RoBERTa counts from behind its padding mark, which is 1."""
    folder = tiny.deployed(tiny.model(family, max_position_embeddings=130), tmp_path / "mine")
    with pytest.raises(InputError, match=f"--stream 384: .*mine reads at most {longest} tokens"):
        api.bench([folder], engines=["torch"], streams=["short", "384"])
    assert list(api.bench([folder], engines=["onnx"], threads=1)["streams"]) == ["mixed", "short", "128"]
