"""Logits of a feed come back in its order, per text or per token; a teacher answers the same rows in its own tokens."""

import numpy as np
import pytest
import torch

import tiny
from contracts import task_rows
from niwaki.answers.label import Label
from niwaki.core.settings import check
from niwaki.models.features import Features
from niwaki.tasks import TASKS
from niwaki.tasks._task import Task
from niwaki.train.collator import Collator, encode_split
from niwaki.train.infer import logits_of
from niwaki.train.precision import has_bf16, resolve_precision

CPU = torch.device("cpu")


def collator_of(model, count=40):
    rows = tiny.sentences(count)
    targets = np.array([tiny.LABELS.index(label) for _, label in rows])
    encoded = Label().encode([text for text, _ in rows], model.tokenizer.backend_tokenizer, 60)
    return Collator(Features(encoded, targets), model, CPU)


@pytest.mark.parametrize("family", ["bert", "roberta"])
def test_rows_come_back_in_order(family):
    model = tiny.model(family)
    model.network.train()
    collator = collator_of(model)
    found = logits_of(model, collator, "fp32")
    assert model.network.training
    alone = torch.cat([tiny.logits(model, collator.batch([row])) for row in range(40)])
    np.testing.assert_allclose(found, alone.numpy(), atol=1e-5)
    assert found.dtype == np.float32


@pytest.fixture(params=["tagging", "question_answering", "choice", "roles"])
def task(request, tmp_path):
    """Tasks whose rows are not one sequence with one answer."""
    path = task_rows.write(request.param, tmp_path, count=40)
    return check(TASKS.load(request.param, Task), {"path": str(path), **task_rows.SHORT.get(request.param, {})})


def model_for(task, seed=0):
    return tiny.model("bert", layers=2, seed=seed, labels=task.labels, head=task.head.architecture)


def test_logits_per_token_come_back_in_order(task):
    model = model_for(task)
    collator = Collator(encode_split(model, task, "train"), model, CPU)
    rows = collator.features.rows
    found = logits_of(model, collator, "fp32")
    with torch.no_grad():
        alone = [tiny_logits(model, collator, sequence) for sequence in range(len(rows.ids))]
    np.testing.assert_allclose(found, np.concatenate(alone), atol=1e-5)
    assert len(found) == (len(rows.ids.values) if task.answer_type.per_token else len(rows.ids))


def tiny_logits(model, collator, sequence):
    out = model.network(**collator.inputs(np.array([sequence])))
    if model.anatomy.head.architecture == "QuestionAnswering":
        return torch.stack([out.start_logits, out.end_logits], -1)[0].numpy()
    return (out.logits[0] if model.anatomy.per_token else out.logits).numpy()


def test_precision_is_checked_not_assumed(monkeypatch):
    assert resolve_precision("fp32") == "fp32" and resolve_precision("bf16") == "bf16"
    for has in (True, False):
        monkeypatch.setattr("niwaki.train.precision.has_bf16", lambda has=has: has)
        assert resolve_precision("auto") == ("bf16" if has else "fp32")
    assert isinstance(has_bf16(), bool)
