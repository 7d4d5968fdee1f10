"""The choice of the engine: the same everywhere in a run, the fastest in a deployment, compared only once."""

import json

import numpy as np
import pytest

import tiny
from engines.kinds import model_of
from niwaki import api
from niwaki.core.errors import InputError
from niwaki.engines import engine_choice
from niwaki.engines.native.library import best
from niwaki.engines.native.program_file import PROGRAM
from niwaki.engines.runtimes.native import Native
from niwaki.engines.runtimes.openvino import OpenVino

RACING = ("onnx", "native", "openvino")
needs_native = pytest.mark.skipif(
    best() is None, reason="the native engine was not built, or this processor lacks AVX2"
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tiny.deployed(tiny.model("bert"), tmp_path / "model-folder")


@needs_native
def test_run_uses_the_first_engine_and_deployment_the_fastest(folder, monkeypatch):
    assert engine_choice.usable_engines(folder) == ["onnx", "native", "openvino", "torch"]
    assert api.load(folder, "").engine == "onnx"
    for wanted in ("native", "openvino", "onnx"):
        monkeypatch.setattr(engine_choice, "_compare", lambda *given, wanted=wanted: wanted)
        monkeypatch.setattr(engine_choice, "_key", lambda *given, wanted=wanted: wanted)
        assert api.load(folder).engine == wanted


@needs_native
def test_comparison_runs_once_per_model_shape(folder, tmp_path, monkeypatch):
    raced = []
    real = engine_choice._compare
    monkeypatch.setattr(engine_choice, "_compare", lambda *given: raced.append(1) or real(*given))
    first = engine_choice.fastest_engine(folder, 1)
    assert first in RACING and engine_choice.fastest_engine(folder, 1) == first and len(raced) == 1
    engine_choice.fastest_engine(folder, 2)
    (folder / "config.json").write_text((folder / "config.json").read_text() + "\n")
    engine_choice.fastest_engine(folder, 1)
    assert len(raced) == 3
    assert len(json.loads((tmp_path / "cache" / "niwaki" / "engines.json").read_text())) == 3


@needs_native
def test_models_that_generate_are_compared_on_a_few_tokens(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tiny.deployed(model_of("text"), tmp_path / "model-folder")
    tokens, run = set(), Native.run
    monkeypatch.setattr(Native, "run", lambda self, *given: tokens.add(self.search.max_new_tokens) or run(self, *given))
    assert engine_choice.fastest_engine(folder, 1) in RACING
    assert tokens == {engine_choice.COMPARED_TOKENS} and api.load(folder, "native").runtime.search.max_new_tokens == 6


def test_comparison_stays_within_the_vocabulary_and_length(tmp_path, monkeypatch):
    """A model with few positions and fewer tokens than the comparison has sequences."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(tiny, "POSITIONS", 20)
    model = tiny.model("bert")
    model.network.resize_token_embeddings(9)
    assert engine_choice.fastest_engine(tiny.deployed(model, tmp_path / "model-folder"), 1) in RACING
    encoded = engine_choice.random_sequences({"max_position_embeddings": 20, "vocab_size": 9})
    assert encoded.ids.lengths.max() == encoded.types.lengths.max() == 20 and set(encoded.ids.values) == set(range(9))
    encoded = engine_choice.random_sequences({"max_position_embeddings": 512, "vocab_size": 30522})
    assert encoded.ids.lengths.tolist() == [*engine_choice.LENGTHS]


@needs_native
@pytest.mark.parametrize("text", ["", "[]", "{broken", '{"x": 1}'])
def test_damaged_or_missing_cache_is_ignored(folder, tmp_path, text):
    (tmp_path / "cache" / "niwaki").mkdir(parents=True)
    (tmp_path / "cache" / "niwaki" / "engines.json").write_text(text)
    assert engine_choice.fastest_engine(folder, 1) in RACING


@needs_native
def test_read_only_cache_repeats_the_comparison(folder, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert engine_choice.fastest_engine(folder, 1) in RACING


def test_single_usable_engine_needs_no_comparison(folder, monkeypatch):
    monkeypatch.setattr(engine_choice, "_compare", None)
    monkeypatch.setattr(OpenVino, "missing_requirement", lambda: "not here")
    (folder / PROGRAM).unlink()
    assert engine_choice.fastest_engine(folder, 1) == "onnx"
    (folder / "model.onnx").unlink()
    assert engine_choice.fastest_engine(folder, 1) == "torch"


def test_missing_kernels_fall_back_to_onnx(folder, monkeypatch):
    monkeypatch.setattr("niwaki.engines.runtimes.native.best", lambda: None)
    assert api.load(folder).engine in ("onnx", "openvino")
    with pytest.raises(InputError, match="C compiler"):
        api.load(folder, "native")


@needs_native
@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("lengths", [[1], [3, 4], [200, 200], [10] * 500, [500, 1, 1, 1, 500], list(range(1, 60))])
def test_native_batches_are_complete_and_balanced(folder, threads, lengths):
    given = np.array(lengths)
    batches = Native(folder, threads).batches(given)
    assert np.concatenate(batches).tolist() == list(range(len(lengths)))
    tokens = [given[batch].sum() for batch in batches]
    assert max(tokens) <= 384 + given.max()
    if len(batches) > 1 and given.max() * threads < given.sum() / 4:
        assert len(batches) % threads == 0 and max(tokens) - min(tokens) <= 2 * given.max()
