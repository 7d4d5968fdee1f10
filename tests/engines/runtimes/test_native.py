"""The native engine: its batches, padded and packed inputs, exits, and which models it runs."""

import json

import numpy as np
import pytest

import tiny
from niwaki.core.errors import InputError
from niwaki.engines.graph_rules import DECODER
from niwaki.engines.native.library import best
from niwaki.engines.native.program_file import PROGRAM
from niwaki.engines.predictor import Predictor
from niwaki.engines.runtimes import native
from niwaki.engines.runtimes.native import BATCH_TOKENS, Native, packed

pytestmark = pytest.mark.skipif(best() is None, reason="the native engine was not built, or this processor lacks AVX2")
TEXTS = [text for text, _ in tiny.sentences(12, seed=4)]


@pytest.fixture(scope="module", params=["SequenceClassification", "TokenClassification"])
def folder(request, tmp_path_factory):
    model = tiny.model("bert", layers=2, head=request.param)
    if request.param == "TokenClassification":
        model.network.config.niwaki_answer = {"kind": "tags"}
    return tiny.deployed(model, tmp_path_factory.mktemp("native") / "model")


def rows_of(folder):
    predictor = Predictor(folder, "native")
    tags = predictor.answer_type.per_token
    return predictor.tokenize([text.split() for text in TEXTS] if tags else TEXTS)


def test_padded_arrays_give_the_same_bits_as_packed_rows(folder):
    engine, rows = Native(folder, 1), rows_of(folder)
    sequences = np.arange(len(rows.ids))
    together = engine.run(rows, sequences, pad_id=0)
    arrays = rows.padded(sequences, 0)
    found = engine.logits(arrays)
    mask = arrays["attention_mask"] == 1
    assert np.array_equal(found[mask] if found.ndim == 3 else found, together)
    assert found.ndim == 2 or not found[~mask].any()


def test_token_types_default_to_the_first(folder):
    engine, rows = Native(folder, 1), rows_of(folder)
    arrays = dict(rows.padded(np.arange(3), 0))
    with_types = engine.logits(arrays)
    del arrays["token_type_ids"]
    assert np.array_equal(engine.logits(arrays), with_types)


def test_consecutive_sequences_are_concatenated(folder):
    rows = rows_of(folder)
    ids, types, lengths = packed(rows, np.array([2, 3]))
    assert ids.tolist() == [*rows.ids[2].tolist(), *rows.ids[3].tolist()] and len(types) == len(ids)
    assert lengths.tolist() == rows.ids.lengths[2:4].tolist()


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_batches_are_consecutive_and_as_many_for_each_thread(folder, threads):
    lengths = np.random.default_rng(0).integers(1, 60, 100)
    batches = Native(folder, threads).batches(lengths)
    assert np.concatenate(batches).tolist() == list(range(100))
    assert len(batches) % threads == 0 and len(batches) >= lengths.sum() / BATCH_TOKENS
    sums = [lengths[rows].sum() for rows in batches]
    assert max(sums) - min(sums) <= 2 * lengths.max()
    assert len(Native(folder, threads).batches(np.array([3, 4]))) == 1


def test_a_program_whose_head_does_not_fit_the_config_is_rejected(tmp_path, monkeypatch):
    folder = tiny.deployed(tiny.model("bert", layers=1), tmp_path / "model")
    monkeypatch.setattr(native, "labels_of", lambda config, where: ["a", "b", "c"])
    with pytest.raises(
        InputError, match=rf"{PROGRAM}: its head gives 2 numbers for each text, and config\.json expects 3"
    ):
        Native(folder, 1)


def test_reasons_for_models_that_it_cannot_run(tmp_path, monkeypatch):
    assert Native.unsupported_reason(tmp_path) == (
        f"{tmp_path}: has no {PROGRAM}; `niwaki export {tmp_path} --to native` writes a model that has"
    )
    (tmp_path / PROGRAM).write_text(json.dumps({"version": 1}))
    assert "native" in Native.unsupported_reason(tmp_path)
    (tmp_path / DECODER).write_bytes(b"")
    assert "generates text" in Native.unsupported_reason(tmp_path)
    monkeypatch.setattr(native, "best", lambda: None)
    assert Native.missing_requirement().startswith("native engine: it was not built, or this processor")
