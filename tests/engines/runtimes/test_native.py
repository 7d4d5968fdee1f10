"""The native engine: its batches, padded and packed inputs, exits, and which models it runs."""

import json

import numpy as np
import pytest

import tiny
from engines.kinds import INPUTS, model_of
from niwaki.answers._beam_search import END, NO_TOKEN
from niwaki.answers._forced_decoding import LABELS
from niwaki.answers.likelihood import Likelihood
from niwaki.core.errors import InputError
from niwaki.engines.native.library import best
from niwaki.engines.native.program_file import DIGESTS, PROGRAM, write_program
from niwaki.engines.predictor import Predictor
from niwaki.engines.runtimes import native
from niwaki.engines.runtimes.native import BATCH_HYPOTHESES, BATCH_TOKENS, Native, packed
from niwaki.models.edits.int8 import Int8

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


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    return tiny.deployed(model_of("text"), tmp_path_factory.mktemp("texts") / "model")


def test_generated_texts_and_scores_are_those_of_onnx_runtime(texts):
    """Texts in any batch, alone with all threads, and as padded arrays."""
    ours, theirs = (Predictor(texts, engine, threads=2) for engine in ("native", "onnx"))
    rows = ours.tokenize(INPUTS["label"])
    found, wanted = ours.logits(rows), theirs.logits(rows)
    assert np.array_equal(found[:, 1:], wanted[:, 1:])
    np.testing.assert_allclose(found[:, 0], wanted[:, 0], atol=1e-4)
    alone = ours.logits(ours.tokenize(INPUTS["label"][2:3]))
    assert np.array_equal(alone, found[2:3])
    arrays = rows.padded(np.arange(len(rows)), 0)
    assert np.array_equal(ours.runtime.logits(arrays), found)
    targets = np.pad(found[:, 1:].astype(np.int64), ((0, 0), (0, 1)), constant_values=NO_TOKEN)
    ends = np.argmax(targets == NO_TOKEN, axis=1)
    targets[np.arange(len(targets)), ends] = np.where(ends < found.shape[1] - 1, END, NO_TOKEN)
    assert ours.runtime.search.beam > 1  # of a given text there is one hypothesis
    for engine in (ours, theirs, Predictor(texts, "torch")):
        np.testing.assert_allclose(engine.runtime.logits({**arrays, LABELS: targets}), found[:, :1], atol=1e-4)


def language_model(family):
    return tiny.model(family, head="MaskedLM", labels=[], niwaki_answer=Likelihood(scoring="causal").to_json())


def test_language_models_score_and_continue_texts_as_in_onnx_runtime(tmp_path):
    folder = tiny.deployed(language_model("llama"), tmp_path / "model")
    ours, theirs = (Predictor(folder, engine, threads=2) for engine in ("native", "onnx"))
    for found, wanted in zip(ours.predict(TEXTS), theirs.predict(TEXTS), strict=True):
        assert found.log_likelihood == pytest.approx(wanted.log_likelihood, abs=1e-3)
    prompts = ["the film was", "the film", "it is very good and the plot"]
    for how in ({"temperature": 0}, {"temperature": 1.0, "seed": 3}):
        found, wanted = (model.sample(prompts, max_new_tokens=10, **how) for model in (ours, theirs))
        assert [one.text for one in found] == [one.text for one in wanted]
    assert ours.runtime.text_reader() is not None and theirs.runtime.text_reader() is None
    rows = ours.tokenize(TEXTS[:3])
    arrays = rows.padded(np.arange(3), 0)
    mask = arrays["attention_mask"] == 1
    assert np.array_equal(ours.runtime.logits(arrays)[mask], ours.runtime.run(rows, np.arange(3), 0))


def test_gpt2_needs_8_bits_since_its_floats_are_stored_side_by_side(tmp_path):
    model = language_model("gpt2")
    model.save(tmp_path)
    assert "c_attn.query.weight' is not stored under its own name" in write_program(model, tmp_path)
    model.apply_edit(Int8())
    folder = tiny.deployed(model, tmp_path / "int8")
    found, wanted = (Predictor(folder, engine).predict(TEXTS) for engine in ("native", "torch"))
    for one, other in zip(found, wanted, strict=True):
        assert one.log_likelihood == pytest.approx(other.log_likelihood, rel=0.02)


def test_batches_of_generation_have_like_lengths_and_work_for_each_thread(texts):
    lengths = np.random.default_rng(0).integers(1, 60, 100)
    engine = Native(texts, 2)
    for count in (100, 30):
        batches = engine.batches(lengths[:count])
        assert sorted(np.concatenate(batches).tolist()) == list(range(count)) and len(batches) >= 2
        assert all(len(rows) * engine.search.beam <= BATCH_HYPOTHESES for rows in batches)
        assert np.all(np.diff(lengths[np.concatenate(batches)]) <= 0)


def test_reasons_for_models_that_it_cannot_run(tmp_path, monkeypatch):
    assert Native.unsupported_reason(tmp_path) == (
        f"{tmp_path}: has no {PROGRAM}; `niwaki export {tmp_path} --to native` writes a model that has"
    )
    (tmp_path / PROGRAM).write_text(json.dumps({"version": 1}))
    assert "native" in Native.unsupported_reason(tmp_path)
    (tmp_path / PROGRAM).write_text(json.dumps({"version": 2, DIGESTS: {}}))
    (tmp_path / "config.json").write_text(json.dumps({"niwaki_answer": {"kind": "text", "grammar": True}}))
    assert "generates what a grammar allows" in Native.unsupported_reason(tmp_path)
    monkeypatch.setattr(native, "best", lambda: None)
    assert Native.missing_requirement().startswith("native engine: it was not built, or this processor")
