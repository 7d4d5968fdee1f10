"""Pretraining from scratch through a run: learnt, resumed with the same bits, fine-tuned, and scored as it was trained."""

import json

import numpy as np
import pytest
import torch
from transformers import ElectraForPreTraining

from niwaki.core.errors import InputError
from niwaki.core.files import read_json, sha256
from niwaki.data import token_files
from niwaki.engines.predictor import Predictor
from niwaki.evaluate import quality
from niwaki.meter.ledger import Ledger
from niwaki.models.model import load_folder
from niwaki.run.plan import make_plan
from niwaki.run.recipe import parse
from niwaki.run.runner import run_baseline
from niwaki.train.loop import Interrupted
from run.pretraining import documents, plan_of, run

SHAPE = {"layers": 2, "hidden_size": 32, "heads": 2, "ffn_size": 64, "vocab_size": 300, "positions": 40}
TRAIN = {"epochs": 2, "batch": 16, "lr": 4e-3, "precision": "fp32", "validations": 2}


@pytest.fixture(autouse=True)
def _quick(monkeypatch, quick_disk):
    monkeypatch.setattr(quality, "RESAMPLES", 10)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    path = tmp_path_factory.mktemp("corpus") / "corpus.txt"
    path.write_text("\n\n".join(documents(150, 5)))
    return path


def planned(bert_folder, corpus, tmp_path, objective, baselines=False, family="bert", **train):
    method, train = {"family": family, **SHAPE}, {**TRAIN, "objective": objective, **train}
    tokens = tmp_path / "tokens"
    return plan_of(bert_folder, corpus, tokens, "language_modeling", method, train, baselines=baselines)


@pytest.mark.parametrize(
    "family, objective, scoring",
    [
        ("bert", "causal_lm", "causal"),
        ("bert", "masked_lm", "masked"),
        ("lstm_lm", "causal_lm", "causal"),
        ("bilstm_lm", "bidirectional_lm", "bidirectional"),
    ],
)
def test_a_model_learns_is_scored_as_trained_and_can_be_fine_tuned(
    bert_folder, corpus, rows_csv, tmp_path, family, objective, scoring
):
    stage = run(planned(bert_folder, corpus, tmp_path, objective, family=family), tmp_path / "run")
    records = [json.loads(line) for line in (stage / "train.jsonl").read_text().splitlines()]
    losses = [record["loss"] for record in records if record["kind"] == "step"]
    assert losses[-1] < 0.8 * losses[0]
    result = read_json(stage / "result.json")
    every = result["score"]["all"]
    assert result["score"]["metric"] == "token_probability" and result["engine"] == "onnx" and result["parity"] < 1e-3
    assert every["perplexity"]["value"] == pytest.approx(1 / every["token_probability"]["value"])
    assert every["perplexity"]["value"] < 150  # of 300 tokens
    model = load_folder(stage / "model")
    assert model.network.config.niwaki_answer["scoring"] == scoring and model.anatomy.is_causal == (scoring != "masked")
    likely, unlikely = Predictor(stage / "model").predict(["the film was good", "good the was film"])
    assert likely.tokens and unlikely.tokens
    if (family, scoring) == ("bert", "causal"):
        assert likely.log_likelihood > unlikely.log_likelihood
    values = {"model": str(stage / "model"), "task": "classification", "data": {"path": str(rows_csv)}, "quantize": []}
    plan = make_plan(parse({**values, "stages": [{"name": "tuned", "train": {**TRAIN, "epochs": 1}}]}), "tuned")
    tuned = load_folder(run(plan, tmp_path / "tuned") / "model")
    assert not tuned.anatomy.is_causal and tuned.labels == ["bad", "good"]
    assert tuned.tokenizer.get_vocab() == model.tokenizer.get_vocab()


@pytest.mark.parametrize(
    "family, objective",
    [
        ("bert", {"use": "masked_lm", "unit": "span"}),
        pytest.param("bert", "masked_next_token", marks=pytest.mark.slow),
        ("electra", "replaced_token_detection"),
        ("lstm_lm", "causal_lm"),
        pytest.param("bilstm_lm", "bidirectional_lm", marks=pytest.mark.slow),
    ],
)
def test_an_interrupted_pretraining_ends_with_the_same_bits(bert_folder, corpus, tmp_path, family, objective):
    plan = planned(bert_folder, corpus, tmp_path, objective, family=family, dropout=0.2)
    whole = run(plan, tmp_path / "whole")
    calls = iter(range(1_000_000))
    stops = {4, 11, 12, 25}
    for _ in range(len(stops)):
        with pytest.raises(Interrupted):
            run(plan, tmp_path / "stopped", lambda: next(calls) in stops)
    stopped = run(plan, tmp_path / "stopped")
    assert sha256(stopped / "model" / "model.safetensors") == sha256(whole / "model" / "model.safetensors")
    assert (stopped / "train.jsonl").read_text() == (whole / "train.jsonl").read_text()


def test_a_discriminator_learns_detection_scores_texts_and_can_be_fine_tuned(bert_folder, corpus, rows_csv, tmp_path):
    plan = planned(bert_folder, corpus, tmp_path, "replaced_token_detection", family="electra")
    stage = run(plan, tmp_path / "run")
    records = [json.loads(line) for line in (stage / "train.jsonl").read_text().splitlines()]
    scores = [record["score"] for record in records if record["kind"] == "validation"]
    assert max(scores) > 0.75  # area under the curve, until the generator knows this simple language as well
    result, config = read_json(stage / "result.json"), read_json(stage / "model" / "config.json")
    assert config["architectures"] == ["ElectraForPreTraining"] and config["niwaki_answer"]["scoring"] == "detection"
    assert result["engine"] == "onnx" and result["parity"] < 1e-3
    assert result["training"]["best_step"] == result["training"]["steps"]
    (predicted,) = Predictor(stage / "model").predict("the film was good and")
    loaded = load_folder(stage / "model")
    reference = ElectraForPreTraining.from_pretrained(stage / "model")
    encoded = loaded.tokenizer("the film was good and", return_tensors="pt")
    original = torch.nn.functional.logsigmoid(-reference(**encoded).logits[0, 1:-1])
    assert predicted.log_likelihood == pytest.approx(original.sum().item(), abs=1e-4)
    assert predicted.tokens == len(original)
    values = {"model": str(stage / "model"), "task": "classification", "data": {"path": str(rows_csv)}, "quantize": []}
    plan = make_plan(parse({**values, "stages": [{"name": "tuned", "train": {**TRAIN, "epochs": 1}}]}), "tuned")
    tuned = load_folder(run(plan, tmp_path / "tuned") / "model")
    assert tuned.labels == ["bad", "good"]
    assert tuned.network.electra.state_dict().keys() == loaded.network.electra.state_dict().keys()


def test_texts_are_tokenized_once(bert_folder, corpus, tmp_path, monkeypatch):
    plan = planned(bert_folder, corpus, tmp_path, "causal_lm", epochs=0.1)
    run(plan, tmp_path / "first")
    monkeypatch.setattr(token_files, "write", lambda *_: pytest.fail("tokenized again"))
    run(plan, tmp_path / "second")


def test_training_without_an_objective_that_predicts_tokens_is_rejected(bert_folder, corpus, tmp_path):
    with pytest.raises(InputError, match="'language_modeling' has no labels; set an objective that predicts tokens"):
        planned(bert_folder, corpus, tmp_path, "supervised")


def test_the_baseline_reads_the_tokens_of_the_last_stage(bert_folder, corpus, tmp_path):
    plan = planned(bert_folder, corpus, tmp_path, "causal_lm", baselines=True, epochs=0.1)
    folder = tmp_path / "run"
    stage = run(plan, folder)
    found = run_baseline(plan, folder, Ledger(folder / "ledger.jsonl"))
    (baseline,) = found["baselines"]
    assert (baseline["kind"], found["name"]) == ("ngram", "5-gram model") and "n-grams" in baseline["note"]
    scores = baseline["score"]["all"]
    assert 1 < scores["perplexity"]["value"] < 12  # words are drawn from ten
    model, own = np.load(stage / "example_stats.npy"), np.load(folder / "baseline.npy")[0]
    assert np.array_equal(own[:, 1:], model[:, 1:])  # the same tokens, words and bytes


def test_settings_of_an_objective_change_the_key(bert_folder, corpus, tmp_path):
    keys = [
        planned(bert_folder, corpus, tmp_path, objective).stages[0].key
        for objective in ("masked_lm", {"use": "masked_lm", "rate": 0.3}, {"use": "masked_lm", "unit": "word"})
    ]
    assert len(set(keys)) == 3
