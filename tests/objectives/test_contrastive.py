"""Contrastive tuning: the loss by hand, and what it does to embeddings in a run with the shipped recipe."""

import numpy as np
import pytest
import torch

import tiny
from niwaki.core.errors import InputError
from niwaki.core.files import read_json
from niwaki.engines.predictor import Predictor
from niwaki.evaluate import quality
from niwaki.meter.ledger import Ledger
from niwaki.models.edits.replace_part import ReplacePart
from niwaki.models.forward import forward
from niwaki.models.record import POOLED
from niwaki.objectives.contrastive import Contrastive, pair_loss
from niwaki.run.plan import make_plan
from niwaki.run.recipe import parse
from niwaki.run.runner import run_stage
from niwaki.tasks.classification import Classification
from niwaki.train.collator import Collator, encode_rows
from niwaki.train.validation import ModelValidation

TRAIN = {
    "objective": "contrastive",
    "epochs": 12,
    "batch": 64,
    "lr": 3e-3,
    "validations": 0,
    "keep": "last",
    "precision": "fp32",
}


def test_both_kinds_of_pairs_count_the_same():
    vectors = torch.tensor([[2.0, 0.0], [0.0, 1.0], [0.0, 3.0], [1.0, 1.0]])
    half = 0.5**0.5  # cosine of the last with the others
    same = (0 - 1) ** 2  # the first two have the same label and are orthogonal
    labels = torch.tensor([0, 0, 1, 2])
    expected = same + (0**2 + 1**2 + 3 * half**2) / 5
    assert pair_loss(vectors, labels).item() == pytest.approx(expected)


def test_a_batch_without_pairs_of_a_kind_has_a_finite_loss():
    vectors = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    assert pair_loss(vectors, torch.tensor([1, 1])).item() == pytest.approx(1.0)
    assert pair_loss(vectors, torch.tensor([0, 1])).item() == pytest.approx(0.0)
    assert pair_loss(vectors[:1], torch.tensor([0])).item() == 0.0


def test_score_is_the_negative_loss_on_the_validation_rows(rows_csv):
    task = Classification(path=str(rows_csv))
    model = tiny.model("bert", layers=1, labels=task.labels)
    model.apply_edit(ReplacePart(slot="head", part="pooled"))
    collator = Collator(encode_rows(model, Contrastive(task), task.splits()["validation"]), model, torch.device("cpu"))
    batch = collator.batch(range(len(collator.features)))
    pooled = forward(model.anatomy, batch, frozenset({POOLED})).pooled[0]
    wanted = -pair_loss(pooled, batch.targets).item()
    assert Contrastive(task).score(ModelValidation(model, collator, "fp32", 0)) == pytest.approx(wanted, abs=1e-5)


def recipe(bert_folder, rows_csv, methods):
    stages = [
        {"name": "frozen", "methods": [{"use": "linear_head"}]},
        {"name": "tuned", "methods": methods, "train": TRAIN},
    ]
    data = {"path": str(rows_csv)}
    values = {"model": str(bert_folder), "task": "classification", "data": data, "quantize": ["int8"], "stages": stages}
    return make_plan(parse(values), "few")


def test_tuning_separates_labels_and_saved_models_answer_alike(
    bert_folder, rows_csv, tmp_path, monkeypatch, quick_disk
):
    monkeypatch.setattr(quality, "RESAMPLES", 10)
    plan = recipe(bert_folder, rows_csv, [{"use": "freeze"}, {"use": "linear_head"}])
    assert {stage.spec.name for stage in plan.stages} == {"frozen", "tuned", "frozen-int8", "tuned-int8"}
    (tmp_path / "stages").mkdir()
    ledger = Ledger(tmp_path / "ledger.jsonl")
    for stage in plan.stages:
        run_stage(plan, stage, tmp_path, ledger, lambda: False)
    scores = {stage.spec.name: read_json(tmp_path / stage.folder / "result.json") for stage in plan.stages}
    assert scores["tuned"]["score"]["value"] > max(0.7, scores["frozen"]["score"]["value"])
    assert scores["tuned"]["parity"] < 1e-3
    texts = [text for text, _ in tiny.sentences(20, seed=9)]
    folders = {stage.spec.name: tmp_path / stage.folder / "model" for stage in plan.stages}
    answers = {
        (name, engine): [one.label for one in Predictor(folders[name], engine).predict(texts)]
        for name in ("tuned", "tuned-int8")
        for engine in ("onnx", "torch")
    }
    assert answers["tuned", "onnx"] == answers["tuned", "torch"]
    assert np.mean([a == b for a, b in zip(answers["tuned-int8", "onnx"], answers["tuned", "onnx"], strict=True)]) > 0.9
    history = (tmp_path / plan.stage("tuned").folder / "train.jsonl").read_text()
    assert history.count('"validation"') == 1


def test_without_a_method_that_fits_the_head_it_is_rejected(bert_folder, rows_csv):
    with pytest.raises(InputError, match="'contrastive' trains no head; add a method that fits one"):
        recipe(bert_folder, rows_csv, [{"use": "freeze"}])
