"""Contrastive tuning: the loss by hand, and what it does to embeddings in a run with the shipped recipe."""

import itertools
from collections import Counter
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as some

import tiny
from niwaki.core.errors import InputError
from niwaki.core.files import read_json
from niwaki.engines.predictor import Predictor
from niwaki.evaluate import quality
from niwaki.meter.ledger import Ledger
from niwaki.models.edits.replace_part import ReplacePart
from niwaki.models.forward import forward
from niwaki.models.record import POOLED
from niwaki.objectives.contrastive import Contrastive, ContrastiveSettings, all_pairs_loss, sample_pairs, sampled_loss
from niwaki.objectives.supervised import Supervised
from niwaki.run.plan import make_plan
from niwaki.run.recipe import parse
from niwaki.run.runner import run_stage
from niwaki.tasks.classification import Classification
from niwaki.train.collator import Collator, encode_rows
from niwaki.train.validation import ModelValidation

TRAIN = {
    "objective": "contrastive",
    "epochs": 1,
    "batch": 64,
    "lr": 3e-3,
    "dropout": 0.0,
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
    assert all_pairs_loss(vectors, labels).item() == pytest.approx(expected)


def test_a_batch_without_pairs_of_a_kind_has_a_finite_loss():
    vectors = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    assert all_pairs_loss(vectors, torch.tensor([1, 1])).item() == pytest.approx(1.0)
    assert all_pairs_loss(vectors, torch.tensor([0, 1])).item() == pytest.approx(0.0)
    assert all_pairs_loss(vectors[:1], torch.tensor([0])).item() == 0.0


def test_sampled_pairs_by_hand():
    """Two pairs: the first text and the third one have the same label, the second and the fourth do not."""
    vectors = torch.tensor([[2.0, 0.0], [0.0, 1.0], [0.0, 3.0], [1.0, 1.0]])
    assert sampled_loss(vectors, torch.tensor([0, 0, 0, 2])).item() == pytest.approx(((0 - 1) ** 2 + 0.5) / 2)


@given(
    labels=some.lists(some.integers(0, 3), min_size=1, max_size=12),
    most=some.integers(2, 200),
    seed=some.integers(0, 9),
)
def test_pairs_are_balanced_and_all_there(labels, most, seed):
    """Against all pairs from itertools: without a limit every pair occurs, and the more frequent kind exactly once."""
    places = sample_pairs(np.array(labels), most, np.random.default_rng(seed))
    found = [(int(min(pair)), int(max(pair))) for pair in places]
    every = list(itertools.combinations_with_replacement(range(len(labels)), 2))
    kinds = [[(a, b) for a, b in every if (labels[a] == labels[b]) == same] for same in (True, False)]
    drawn = [[pair for pair in found if pair in kind] for kind in kinds]
    each = min(max(map(len, kinds)), most // 2)
    assert [len(pairs) for pairs in drawn] == [each if kind else 0 for kind in kinds]
    for pairs, kind in zip(drawn, kinds, strict=True):
        counts = Counter(pairs)
        assert max(counts.values(), default=0) - min((counts[pair] for pair in kind), default=0) <= 1


@dataclass
class Rows:
    """Of features, what batches are drawn from."""

    targets: np.ndarray
    lengths: np.ndarray

    def __len__(self):
        return len(self.targets)


def batches_of(labels, size=32, seed=0, epoch=0, **settings):
    rows = Rows(np.asarray(labels), np.arange(10, 10 + 10 * len(labels), 10))
    return Contrastive(None, ContrastiveSettings(**settings)).batches(rows, size, seed, epoch)


@pytest.mark.parametrize(("classes", "steps"), [(2, 9), (4, 48), (6, 120)])
def test_an_epoch_has_as_many_steps_as_in_setfit(classes, steps):
    """Of 16 pairs, from 8 texts of each label; the figures are those of SetFit 1.2."""
    labels = np.repeat(np.arange(classes), 8)
    batches = batches_of(labels)
    assert len(batches) == steps and {len(batch) for batch in batches} == {32}
    same = np.concatenate([labels[batch[:16]] == labels[batch[16:]] for batch in batches])
    assert same.mean() == 0.5


def test_pairs_come_from_seed_and_epoch_alone():
    labels = np.repeat(np.arange(3), 5)
    drawn = {
        place: np.concatenate(batches_of(labels, seed=place[0], epoch=place[1])) for place in [(0, 0), (0, 1), (1, 0)]
    }
    assert np.array_equal(drawn[0, 0], np.concatenate(batches_of(labels)))
    assert not np.array_equal(drawn[0, 0], drawn[0, 1]) and not np.array_equal(drawn[0, 0], drawn[1, 0])


def test_pairs_of_many_texts_are_limited():
    labels = np.arange(5000) % 7
    batches = batches_of(labels, max_pairs=320)
    assert len(batches) == 20
    assert len(np.unique(np.concatenate(batches))) > 400  # of 640, in an epoch from 1,000 texts
    assert Contrastive(None, ContrastiveSettings(max_pairs=320)).rows_per_epoch(5000) == 640


def test_batches_for_all_pairs_are_random_and_others_of_like_length():
    """Sorted by length, texts of different lengths would never be compared."""
    lengths = np.arange(10, 330, 10)
    epochs = [batches_of(np.zeros(32), size=8, epoch=epoch, pairs="batch") for epoch in range(2)]
    assert all(sorted(np.concatenate(batches)) == list(range(32)) for batches in epochs)
    assert min(np.ptp(lengths[batch]) for batch in epochs[0]) > 80
    assert not any(set(one) in map(set, epochs[1]) for one in epochs[0])  # other pairs in every epoch
    supervised = Supervised.batches(None, Rows(np.zeros(32), lengths), 8, 0, 0)
    assert max(np.ptp(lengths[batch]) for batch in supervised) <= 80


def test_score_is_the_negative_loss_on_the_validation_rows(rows_csv):
    task = Classification(path=str(rows_csv))
    model = tiny.model("bert", layers=1, labels=task.labels)
    model.apply_edit(ReplacePart(slot="head", part="pooled"))
    collator = Collator(encode_rows(model, Contrastive(task), task.splits()["validation"]), model, torch.device("cpu"))
    batch = collator.batch(range(len(collator.features)))
    pooled = forward(model.anatomy, batch, frozenset({POOLED})).pooled[0]
    wanted = -all_pairs_loss(pooled, batch.targets).item()
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


@pytest.mark.parametrize("method", ["rdrop", "exits"])
def test_methods_that_compare_logits_are_rejected(bert_folder, rows_csv, method):
    with pytest.raises(InputError, match=f"{method}: compares logits, and objective 'contrastive' trains none"):
        recipe(bert_folder, rows_csv, [{"use": "linear_head"}, {"use": method}])
