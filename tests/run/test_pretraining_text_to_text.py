"""Pretraining encoder-decoders through a run: learnt, resumed with the same bits, scored, and fine-tuned."""

import json

import pytest

import tiny
from niwaki.core.errors import InputError
from niwaki.core.files import read_json, sha256
from niwaki.engines.predictor import Predictor
from niwaki.evaluate import quality
from niwaki.models.model import load_folder
from niwaki.run.plan import make_plan
from niwaki.run.recipe import parse
from niwaki.train.loop import Interrupted
from objectives.noisy import network
from run.pretraining import documents, plan_of, run

SHAPE = {
    "layers": 1,
    "hidden_size": 32,
    "heads": 2,
    "ffn_size": 64,
    "vocab_size": 300,
    "positions": 40,
    "sentinels": 20,
}
TRAIN = {"epochs": 3, "batch": 16, "lr": 4e-3, "precision": "fp32", "validations": 1, "dropout": 0.1}


@pytest.fixture(autouse=True)
def _quick(monkeypatch, quick_disk):
    monkeypatch.setattr(quality, "RESAMPLES", 10)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    path = tmp_path_factory.mktemp("corpus") / "corpus.txt"
    path.write_text("\n\n".join(sorted(set(documents(100, 3)))))
    return path


def planned(bert_folder, corpus, tmp_path, objective="span_corruption", family="t5", **train):
    shape = SHAPE if family in ("t5", "bart") else {key: SHAPE[key] for key in SHAPE if key != "sentinels"}
    method, train = {"family": family, **shape}, {**TRAIN, "objective": objective, **train}
    return plan_of(bert_folder, corpus, tmp_path / "tokens", "denoising", method, train, baselines=False)


def tuned_values(folder, tmp_path):
    """A recipe that goes on with the model: a text in capitals."""
    rows = [{"source": text, "target": text.upper()} for text, _ in tiny.sentences(60)]
    (tmp_path / "pairs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    data = {"path": str(tmp_path / "pairs.jsonl"), "max_new_tokens": 12, "beam": 1}
    train = {**TRAIN, "epochs": 1}
    return {
        "model": str(folder),
        "task": "generation",
        "data": data,
        "quantize": [],
        "cache": {"stages": False},
        "stages": [{"name": "tuned", "train": train}],
    }


BOTH = [
    ("span_corruption", "t5"),
    pytest.param("text_denoising", "bart", marks=pytest.mark.slow),
]


@pytest.mark.parametrize("objective, family", BOTH)
def test_a_model_learns_is_scored_and_can_be_fine_tuned(bert_folder, corpus, tmp_path, objective, family):
    stage = run(planned(bert_folder, corpus, tmp_path, objective, family), tmp_path / "run")
    records = [json.loads(line) for line in (stage / "train.jsonl").read_text().splitlines()]
    scores = [record["score"] for record in records if record["kind"] == "validation"]
    assert scores[-1] > 1.5 * scores[0]
    result = read_json(stage / "result.json")
    assert result["score"]["metric"] == "token_probability" and result["engine"] == "onnx" and result["parity"] < 1e-3
    assert result["score"]["all"]["perplexity"]["value"] < 150  # of 300 tokens
    model = load_folder(stage / "model")
    assert (model.network.config.model_type, model.network.config.niwaki_answer["kind"]) == (family, "reconstruction")
    plan = make_plan(parse(tuned_values(stage / "model", tmp_path)), "tuned")
    tuned = run(plan, tmp_path / "tuned") / "model"
    assert load_folder(tuned).tokenizer.get_vocab() == model.tokenizer.get_vocab()
    (answer,) = Predictor(tuned).predict(["the film was good"])
    assert isinstance(answer.text, str) and 0 <= answer.probability <= 1


@pytest.mark.slow
@pytest.mark.parametrize("objective, family", [("span_corruption", "t5"), ("text_denoising", "bart")])
def test_an_interrupted_pretraining_ends_with_the_same_bits(bert_folder, corpus, tmp_path, objective, family):
    plan = planned(bert_folder, corpus, tmp_path, objective, family, epochs=2)
    whole = run(plan, tmp_path / "whole")
    calls, stops = iter(range(1_000_000)), {2, 6, 7}
    for _ in range(len(stops)):
        with pytest.raises(Interrupted):
            run(plan, tmp_path / "stopped", lambda: next(calls) in stops)
    stopped = run(plan, tmp_path / "stopped")
    assert sha256(stopped / "model" / "model.safetensors") == sha256(whole / "model" / "model.safetensors")
    assert (stopped / "train.jsonl").read_text() == (whole / "train.jsonl").read_text()


def test_an_encoder_is_rejected(bert_folder, corpus, tmp_path):
    with pytest.raises(
        InputError, match=r"task 'denoising' needs a decoder, and the model has none; put \{ use = 'from_"
    ):
        planned(bert_folder, corpus, tmp_path, family="bert")


def test_settings_of_the_noise_change_the_key(bert_folder, corpus, tmp_path):
    settings = ("span_corruption", {"use": "span_corruption", "rate": 0.3}, {"use": "span_corruption", "noise": "drop"})
    assert len({planned(bert_folder, corpus, tmp_path, one).stages[0].key for one in settings}) == 3


def test_a_classifier_cannot_start_from_it(tmp_path, rows_csv):
    network("t5").save(tmp_path)
    stages = [{"name": "tuned", "train": TRAIN}]
    values = {"model": str(tmp_path), "task": "classification", "data": {"path": str(rows_csv)}, "stages": stages}
    with pytest.raises(InputError, match="a model of family 't5' has no head for SequenceClassification"):
        make_plan(parse(values), "tuned")
