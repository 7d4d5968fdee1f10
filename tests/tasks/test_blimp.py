"""Minimal pairs: accuracy by hand, ties, the published format, and a trained model on both ways to score it."""

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import tiny
from niwaki import api
from niwaki.answers.likelihood import Likelihood
from niwaki.core.errors import InputError
from niwaki.engines.predictor import Predictor
from niwaki.evaluate import quality
from niwaki.run.plan import make_plan
from niwaki.run.recipe import parse
from niwaki.tasks.blimp import Blimp

ROWS = {
    "sentence_good": ["the film was good", "a plot is dull", "it was warm", "the end"],
    "sentence_bad": ["film the was good", "plot a is dull", "was it warm", "end the"],
    "UID": ["order", "order", "order", "short"],
    "linguistics_term": ["syntax", "syntax", "syntax", "other"],
}


@pytest.fixture
def rows(tmp_path):
    parquet.write_table(pa.table(ROWS), tmp_path / "test.parquet")
    return tmp_path


def value(good, bad):
    return [[good, 4], [bad, 4]]


def test_accuracy_is_the_mean_over_paradigms_and_ties_count_half(rows):
    task = Blimp(path=str(rows))
    values = [value(-1.0, -2.0), value(-3.0, -3.0), value(-2.0, -1.0), value(-1.0, -9.0)]
    stats = task.scorer.example_stats(values, task.splits()["test"])
    assert stats.tolist() == [[1, 0], [0.5, 0], [0, 0], [1, 1]]
    assert task.scorer.scores(stats) == pytest.approx({"accuracy": 0.75, "syntax": 0.5, "other": 1.0})
    assert task.scorer.scores(stats[:3]) == pytest.approx({"accuracy": 0.5, "syntax": 0.5})


def test_pairs_without_paradigms_are_one(tmp_path):
    parquet.write_table(
        pa.table({name: ROWS[name] for name in ("sentence_good", "sentence_bad")}), tmp_path / "a.parquet"
    )
    task = Blimp(path=str(tmp_path / "a.parquet"))
    stats = task.scorer.example_stats([value(-1, -2)] * 3 + [value(-2, -1)], task.splits()["test"])
    assert task.scorer.scores(stats) == {"accuracy": 0.75}


def test_some_pairs_are_spread_over_the_file(tmp_path):
    pairs = pa.table({"sentence_good": [f"a {n}" for n in range(100)], "sentence_bad": [f"b {n}" for n in range(100)]})
    parquet.write_table(pairs, tmp_path / "test.parquet")
    found = Blimp(path=str(tmp_path), rows=5).splits()["test"].column("text").to_pylist()
    assert found == ["a 0", "a 25", "a 50", "a 74", "a 99"]


def test_files_without_the_columns_are_rejected(tmp_path):
    parquet.write_table(pa.table({"good": ["a"], "sentence_bad": ["b"]}), tmp_path / "test.parquet")
    with pytest.raises(InputError, match="has no column 'sentence_good'"):
        Blimp(path=str(tmp_path)).splits()


@pytest.mark.parametrize("scoring", ["masked", "causal", "masked_next"])
def test_a_saved_model_is_evaluated_as_it_was_trained(scoring, rows, tmp_path, monkeypatch):
    monkeypatch.setattr(quality, "RESAMPLES", 10)
    mask = tiny.tokenizer().mask_token_id
    kind = Likelihood(scoring=scoring, mask_token_id=mask, passes=7)
    model = tiny.model(
        "bert", layers=1, head="MaskedLM", labels=[], niwaki_answer=kind.to_json(), is_decoder=scoring == "causal"
    )
    folder = tiny.with_graphs(model, tmp_path / "model")
    found = api.evaluate(folder, task="blimp", data=rows)
    pairs = list(zip(ROWS["sentence_good"], ROWS["sentence_bad"], strict=True))
    likelihoods = [answer.log_likelihood for answer in Predictor(folder).predict(pairs)]
    right = np.array([good > bad for good, bad in likelihoods], dtype=float)
    assert found["metric"] == "accuracy" and found["rows"] == 4
    assert found["value"] == pytest.approx((right[:3].mean() + right[3]) / 2)


def test_a_published_masked_model_can_be_scored_and_none_be_trained(rows, encoder_folder):
    values = {"model": str(encoder_folder), "task": "blimp", "data": {"path": str(rows)}, "baselines": False}
    values["quantize"] = []
    plan = make_plan(parse({**values, "stages": [{"name": "score"}]}), "pairs")
    assert plan.task.answer_type.mask_token_id == tiny.tokenizer().mask_token_id
    for objective in ("masked_lm", "supervised"):
        train = {"objective": objective, "epochs": 1}
        with pytest.raises(InputError, match=r"does not have|has no labels"):
            make_plan(parse({**values, "stages": [{"name": "lm", "train": train}]}), "pairs")


def test_a_published_checkpoint_is_evaluated_by_its_pretraining_head(rows, tmp_path, monkeypatch):
    monkeypatch.setattr(quality, "RESAMPLES", 10)
    folder, model = tmp_path / "published", tiny.model("bert", layers=1, head="MaskedLM", labels=[])
    model.network.save_pretrained(folder)
    model.tokenizer.save_pretrained(folder)
    found = api.evaluate(folder, task="blimp", data=rows)["all"]
    pairs = zip(
        *(api.load(folder, head="language_model").predict(ROWS[name]) for name in ROWS if "sent" in name), strict=True
    )
    scores = [(good.log_likelihood > bad.log_likelihood) + 0.5 * (good == bad) for good, bad in pairs]
    assert found["accuracy"]["value"] == pytest.approx((sum(scores[:3]) / 3 + scores[3]) / 2)
    assert found.keys() == {"accuracy", "syntax", "other"}
