"""The sensitivity of a saved model on rows of a task. The cuts are tested in tests/evaluate/test_sensitivity.py."""

import pytest
import torch

import tiny
from niwaki import api
from niwaki.core.errors import InputError
from niwaki.evaluate import sensitivity as module
from niwaki.models.model import load_folder
from niwaki.tasks.classification import Classification


def test_the_loss_is_that_of_the_first_validation_rows(bert_folder, rows_csv, monkeypatch):
    measured = {}

    def measure(model, batches, loss):
        measured["sizes"] = [len(batch.rows) for batch in batches]
        with torch.no_grad():
            measured["losses"] = [float(loss(model, batch)) for batch in batches]
        return {"cuts": []}

    monkeypatch.setattr(module, "sensitivity", measure)
    found = api.sensitivity(bert_folder, task="classification", data=rows_csv, rows=10)
    assert found == {"model": str(bert_folder), "task": "classification", "rows": 10, "cuts": []}
    assert measured["sizes"] == [10]
    task, model = Classification(path=str(rows_csv)), load_folder(bert_folder)
    table = task.splits()["validation"].slice(0, 10)
    inputs = model.tokenizer(task.inputs(table), padding=True, return_tensors="pt")
    targets = torch.tensor([tiny.LABELS.index(label) for label in task.gold(table)])
    with torch.no_grad():
        logits = model.network(**inputs).logits
    assert measured["losses"] == pytest.approx([torch.nn.functional.cross_entropy(logits, targets).item()], abs=1e-5)


def test_all_rows_are_used_where_there_are_fewer(bert_folder, rows_csv, monkeypatch):
    sizes = []
    monkeypatch.setattr(
        module, "sensitivity", lambda model, batches, loss: sizes.extend(len(one.rows) for one in batches) or {}
    )
    rows = Classification(path=str(rows_csv), validation=0.45).splits()["validation"].num_rows
    overrides = ["data.validation=0.45"]
    assert api.sensitivity(bert_folder, data=rows_csv, overrides=overrides, rows=10_000)["rows"] == rows
    assert sizes == [32] * (rows // 32) + [rows % 32]


def test_a_model_of_another_task_is_rejected(bert_folder):
    with pytest.raises(InputError, match="its labels are"):
        api.sensitivity(bert_folder, task="rotten_tomatoes", rows=4)
