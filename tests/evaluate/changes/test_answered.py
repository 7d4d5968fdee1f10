"""Answers of every kind of task, with credit, confidence and candidates where the kind has them."""

import numpy as np
import pytest
import torch

from niwaki.api.loading import load
from niwaki.evaluate.changes.answered import answer, row_credit
from niwaki.models.model import load_folder

CANDIDATES = {"label": 2, "choice": 2}


@pytest.mark.parametrize("kind", ["labels", "number", "tags", "span", "choice"])
def test_every_kind_is_answered(tasks_by_kind, encoder_folder, tmp_path, kind):
    task = tasks_by_kind[kind]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        load_folder(encoder_folder, task.head).save(tmp_path)
    table = task.splits()["test"].slice(0, 7)
    found = answer(load(tmp_path, "torch"), "x", task, table, task.inputs(table))
    assert len(found.values) == len(found.credit) == 7 and np.isfinite(found.credit).all()
    assert (found.confidence is None) == (kind == "number")
    assert (None if found.logits is None else found.logits.shape) == ((7, 2) if kind in CANDIDATES else None)
    gold = task.gold(table)
    if kind not in ("span", "number"):
        best = row_credit(task, task.scorer.example_stats(gold, table))
        assert (found.credit <= best).all()
    assert all(found.same(value, value) for value in found.values)


def test_credit_is_one_point_for_a_right_answer(rows):
    gold = rows.task.gold(rows.table)
    wrong = ["good" if label == "bad" else "bad" for label in gold]
    half = [a if number % 2 else b for number, (a, b) in enumerate(zip(gold, wrong, strict=True))]
    credit = row_credit(rows.task, rows.task.scorer.example_stats(half, rows.table))
    assert credit.tolist() == [-1.0, 0.0] * (len(gold) // 2)
