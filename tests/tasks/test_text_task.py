"""Tasks on texts and pairs with a label column."""

import numpy as np
import pyarrow as pa
import pytest

from niwaki.core.errors import InputError
from niwaki.models.forward import NO_LABEL
from niwaki.tasks.classification import Classification
from niwaki.tasks.multilabel import Multilabel

from .rows import TEXTS, TOKENIZER, csv, jsonl

PAIRS = [{"premise": text, "hypothesis": f"number {n}", "label": n % 2} for n, text in enumerate(TEXTS)]


def test_pairs_are_inputs_of_two_texts(tmp_path):
    task = Classification(path=jsonl(tmp_path / "x.jsonl", PAIRS))
    rows = pa.table({"text": ["a", "b"], "second": ["c", "d"], "label": ["0", "1"]})
    assert task.inputs(rows) == [("a", "c"), ("b", "d")] and task.gold(rows) == ["0", "1"]
    assert task.inputs(rows.select(["text", "label"])) == ["a", "b"]


def test_texts_and_labels_get_the_tasks_own_names(tmp_path):
    task = Classification(path=jsonl(tmp_path / "x.jsonl", PAIRS))
    table = task.normalized("all", pa.table({name: [row[name] for row in PAIRS] for name in PAIRS[0]}))
    assert table.column_names == ["text", "second", "label"] and table.column("label").to_pylist()[:2] == ["0", "1"]


def test_empty_texts_are_named_by_the_users_column(tmp_path):
    path = csv(tmp_path / "x.csv", "review,label", [*(f"{text},{n % 2}" for n, text in enumerate(TEXTS)), " ,1", ",0"])
    with pytest.raises(InputError, match=r"empty cells \('review' 2\); fill them or drop their rows"):
        Classification(path=path).splits()


@pytest.mark.parametrize("kind", [Classification, Multilabel])
def test_unlabelled_texts_have_targets_of_the_same_shape_without_labels(tmp_path, kind):
    column = "label" if kind is Classification else "labels"
    rows = [
        {"text": text, column: str(n % 2) if kind is Classification else ["a", "b"][: n % 3]}
        for n, text in enumerate(TEXTS)
    ]
    task = kind(path=jsonl(tmp_path / "x.jsonl", rows))
    found = task.unlabelled_features(["a film", ("one", "two")], TOKENIZER, 16)
    labelled = task.features(task.splits()["train"].slice(0, 2), TOKENIZER)
    assert found.targets.shape == labelled.targets.shape and found.targets.dtype == labelled.targets.dtype
    assert (np.asarray(found.targets) == NO_LABEL).all() and len(found) == 2
