"""Word and sentence vectors through a run: learnt, resumed with the same bits, scored, encoded and fine-tuned."""

import json
import random

import numpy as np
import pytest

import niwaki
import tiny
from niwaki.api.evaluation import evaluate
from niwaki.core.errors import InputError
from niwaki.core.files import read_json, sha256
from niwaki.evaluate import quality
from niwaki.evaluate.baseline import run_baselines
from niwaki.meter import meter
from niwaki.meter.ledger import Ledger
from niwaki.models.model import load_folder
from niwaki.run.plan import make_plan
from niwaki.run.recipe import parse
from niwaki.run.runner import run_stage
from niwaki.train.loop import Interrupted

SUBJECTS = {"animal": ["dog", "cat", "horse", "cow"], "country": ["france", "spain", "japan", "peru"]}
AROUND = {"animal": "eats grass and sleeps in a barn", "country": "has a capital and borders the sea"}
TABLE = {"family": "averaging", "layers": 1, "hidden_size": 16, "ffn_size": 16, "split": "words", "vocab_size": 60}
ENCODER = {"family": "bert", "layers": 1, "hidden_size": 32, "heads": 2, "ffn_size": 64, "vocab_size": 300}
WORDS = {
    "epochs": 40,
    "batch": 32,
    "lr": 5e-2,
    "precision": "fp32",
    "dropout": 0.0,
    "weight_decay": 0.0,
    "keep": "last",
    "validations": 0,
}
SENTENCES = {"epochs": 6, "batch": 32, "lr": 2e-3, "precision": "fp32", "dropout": 0.1}
OBJECTIVES = {
    "skip_gram": (TABLE, WORDS, {"subsample": 0}),
    "cbow": (TABLE, WORDS, {"subsample": 0}),
    "glove": (TABLE, {**WORDS, "batch": 256, "epochs": 60}, {"window": 5, "most": 10}),
    "quick_thought": (ENCODER, SENTENCES, {"run": 4}),
    "skip_thought": (ENCODER, SENTENCES, {"run": 4, "decoder_size": 16}),
}


@pytest.fixture(autouse=True)
def _quick(monkeypatch, quick_disk):
    monkeypatch.setattr(quality, "RESAMPLES", 10)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """Documents about one animal or country: the words around a subject tell its kind, and its name the document."""
    draw, folder = random.Random(0), tmp_path_factory.mktemp("corpus")

    def document(number):
        kind = draw.choice(list(SUBJECTS))
        name, around = draw.choice(SUBJECTS[kind]), AROUND[kind]
        return " ".join(f"The {name} {draw.choice(['often', 'never', 'also'])} {around} {n} ." for n in (number, "too"))

    (folder / "corpus.txt").write_text("\n\n".join(document(number) for number in range(150)))
    return folder / "corpus.txt"


def planned(bert_folder, corpus, tmp_path, objective, **train):
    shape, settings, more = OBJECTIVES[objective]
    data = {"path": str(corpus), "max_tokens": 24, "validation": 0.1, "test": 0.1, "cache": str(tmp_path / "tokens")}
    stage = {
        "name": "vectors",
        "methods": [{"use": "from_scratch", "positions": 40, **shape}],
        "train": {**settings, "objective": {"use": objective, **more}, **train},
    }
    values = {"model": str(bert_folder), "task": "sentence_embedding", "data": data, "quantize": [], "stages": [stage]}
    return make_plan(parse({**values, "baselines": False, "cache": {"stages": False}}), "vectors")


def run(plan, folder, should_stop=lambda: False):
    (folder / "stages").mkdir(parents=True, exist_ok=True)
    run_stage(plan, plan.stages[0], folder, Ledger(folder / "ledger.jsonl"), should_stop)
    return folder / plan.stages[0].folder


@pytest.mark.parametrize("objective", ["skip_gram", "cbow"])
def test_words_of_a_kind_become_neighbours(bert_folder, corpus, tmp_path, objective):
    stage = run(planned(bert_folder, corpus, tmp_path, objective), tmp_path / "run")
    names = [name for kind in SUBJECTS.values() for name in kind]
    vectors = niwaki.load(stage / "model").encode(names)
    cosines = vectors @ vectors.T - 2 * np.eye(len(names))
    nearest = np.argsort(-cosines, axis=1)[:, :3]
    assert all({*row} == {*range(4)} - {name} for name, row in enumerate(nearest[:4].tolist()))
    assert all({*row} == {*range(4, 8)} - {name} for name, row in enumerate(nearest[4:].tolist(), 4))


def test_products_approach_logarithms_of_cooccurrences(bert_folder, corpus, tmp_path):
    stage = run(planned(bert_folder, corpus, tmp_path, "glove"), tmp_path / "run")
    records = [json.loads(line) for line in (stage / "train.jsonl").read_text().splitlines()]
    losses = [record["loss"] for record in records if record["kind"] == "step"]
    assert losses[-1] < 0.05 * losses[0]


@pytest.mark.parametrize("objective", ["quick_thought", "skip_thought"])
def test_sentences_of_a_document_become_neighbours(bert_folder, corpus, tmp_path, objective):
    stage = run(planned(bert_folder, corpus, tmp_path, objective), tmp_path / "run")
    records = [json.loads(line) for line in (stage / "train.jsonl").read_text().splitlines()]
    scores = [record["score"] for record in records if record["kind"] == "validation"]
    losses = [record["loss"] for record in records if record["kind"] == "step"]
    assert losses[-1] < 0.8 * losses[0] and max(scores) > 0.3  # by chance about 0.12 of 30
    result = read_json(stage / "result.json")
    assert result["score"]["metric"] == "mean_reciprocal_rank" and result["parity"] < 1e-4


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_an_interrupted_run_ends_with_the_same_bits(bert_folder, corpus, tmp_path, objective):
    plan = planned(bert_folder, corpus, tmp_path, objective, epochs=2 if objective != "glove" else 20)
    whole = run(plan, tmp_path / "whole")
    steps = iter(range(100))
    with pytest.raises(Interrupted):
        run(plan, tmp_path / "torn", lambda: next(steps) == 3)
    torn = run(plan, tmp_path / "torn")
    assert sha256(torn / "model" / "model.safetensors") == sha256(whole / "model" / "model.safetensors")


def test_word_vectors_are_scored_on_other_texts_and_fine_tuned(bert_folder, corpus, tmp_path):
    """As the embedding of any text; as the first layer of a classifier, and as static vectors of its baselines."""
    stage = run(planned(bert_folder, corpus, tmp_path, "cbow", epochs=1), tmp_path / "run")
    found = evaluate(stage / "model", task="sentence_embedding", data=str(corpus))
    assert 0 < found["value"] <= 1
    rows = [{"text": text, "label": label} for text, label in tiny.sentences(120)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    train = {"epochs": 1, "lr": 1e-3, "dropout": 0.0}
    values = {
        "model": str(stage / "model"),
        "task": "classification",
        "data": {"path": str(tmp_path / "rows.jsonl")},
        "quantize": [],
        "baselines": False,
        "cache": {"stages": False},
        "stages": [{"name": "tuned", "train": train}],
    }
    tuned = run(make_plan(parse(values), "tuned"), tmp_path / "tuned")
    model = load_folder(tuned / "model")
    assert type(model.network).__name__ == "AveragingForSequenceClassification"
    assert model.anatomy.tokens.weight.shape == load_folder(stage / "model").anatomy.tokens.weight.shape


def test_a_task_with_other_heads_is_rejected(bert_folder, corpus, tmp_path):
    plan = planned(bert_folder, corpus, tmp_path, "cbow")
    values = plan.recipe.model_dump(mode="json")
    values["task"] = "language_modeling"
    with pytest.raises(InputError, match="take task 'sentence_embedding'"):
        make_plan(parse(values), "other")
    values["task"], values["stages"][0]["train"]["objective"] = "sentence_embedding", "masked_lm"
    with pytest.raises(InputError, match="take task 'language_modeling'"):
        make_plan(parse(values), "other")


def test_baselines_are_averaged_vectors_and_a_frozen_encoder(encoder_folder, corpus, tmp_path):
    given = planned(encoder_folder, corpus, tmp_path, "cbow").task
    record, stats = run_baselines(given, encoder_folder, meter)
    assert [one["kind"] for one in record["baselines"]] == ["static", "frozen"] and len(record["skipped"]) == 2
    assert record["name"] == "averaged static vectors" and stats.shape[2] == 3
    assert all(0 < one["score"]["value"] <= 1 for one in record["baselines"])
