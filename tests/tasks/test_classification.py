"""Rows to features, losses and scores; what does not fit is refused before any work."""

import numpy as np
import pytest
import sklearn.metrics
import torch
from hypothesis import given
from hypothesis import strategies as some

import tiny
from niwaki.core.errors import Refused
from niwaki.core.settings import check
from niwaki.tasks import TASKS
from niwaki.tasks._task import NO_LABEL, Task, encode
from niwaki.tasks.classification import Classification


def write(path, rows, header="text,label"):
    path.write_text("\n".join([header, *rows]) + "\n")
    return path


@pytest.fixture
def task(rows_csv):
    return Classification(path=str(rows_csv))


def test_splits_and_labels(task):
    splits = task.splits()
    assert task.labels == ["bad", "good"]
    assert {name: table.num_rows for name, table in splits.items()} == {"train": 120, "validation": 16, "test": 24}
    assert task.splits() is splits  # read once


def test_what_files_give_is_not_cut_out_of_the_train_rows(tmp_path):
    rows = [f"{text},{label}" for text, label in tiny.sentences(100)]
    write(tmp_path / "train.csv", rows[:60])
    write(tmp_path / "validation.csv", rows[60:80])
    counts = {name: table.num_rows for name, table in Classification(path=str(tmp_path)).splits().items()}
    assert counts["validation"] == 20 and counts["train"] + counts["test"] == 60 and counts["test"] > 0
    write(tmp_path / "test.csv", rows[80:])
    counts = {name: table.num_rows for name, table in Classification(path=str(tmp_path)).splits().items()}
    assert counts == {"train": 60, "validation": 20, "test": 20}
    (tmp_path / "validation.csv").unlink()
    counts = {name: table.num_rows for name, table in Classification(path=str(tmp_path)).splits().items()}
    assert counts["test"] == 20 and counts["train"] + counts["validation"] == 60


@pytest.mark.parametrize(
    "rows, header, message",
    [
        (["film,good"] * 40, "text,label", "none for"),
        ([f"{text},good" for text, _ in tiny.sentences(40)], "text,label", "has 1 label"),
        (["a,b"], "txt,label", "has no column 'text', did you mean 'txt'? (set data.text)"),
        ([f"{text},{label}" for text, label in tiny.sentences(30)] + [" ,good"], "text,label", "1 empty cells"),
        ([f"{text},{label}" for text, label in tiny.sentences(30)] + ["x,"], "text,label", "1 empty cells"),
        (["film,good", "plot,bad"], "text,label", "none for"),
    ],
)
def test_rows_that_cannot_be_used_are_refused(tmp_path, rows, header, message):
    task = Classification(path=str(write(tmp_path / "x.csv", rows, header)))
    with pytest.raises(Refused) as caught:
        task.splits(), task.labels
    assert message in str(caught.value)


def test_columns_of_lists_are_refused(tmp_path):
    (tmp_path / "x.jsonl").write_text('{"text": ["a"], "label": "x"}\n')
    with pytest.raises(Refused, match="column 'text' is not text"):
        Classification(path=str(tmp_path / "x.jsonl")).splits()


def test_a_label_that_was_not_in_training_is_refused(tmp_path):
    rows = [f"{text},{label}" for text, label in tiny.sentences(40)]
    write(tmp_path / "train.csv", rows)
    write(tmp_path / "test.csv", ["film,strange"])
    task = Classification(path=str(tmp_path))
    with pytest.raises(Refused, match="label 'strange' is not among the train rows' labels \\(bad, good\\)"):
        task.targets(task.splits()["test"])


def test_no_path():
    with pytest.raises(Refused, match=r"data\.path: needed for task 'classification'"):
        Classification().splits()


def test_features_are_cut_and_pairs_lose_from_the_longer_text():
    tokenizer = tiny.tokenizer().backend_tokenizer
    tokenizer.enable_padding(length=50)
    texts = [("film " * 20,), ("plot",)]
    made = encode(texts, np.array([0, 1]), tokenizer, 8)
    assert made.lengths == [8, 3] and len(made) == 2
    assert made.ids[0][0] == tokenizer.token_to_id("[CLS]") and made.ids[0][-1] == tokenizer.token_to_id("[SEP]")
    pair = encode([("film " * 20, "plot plot")], np.array([0]), tokenizer, 10)
    assert pair.lengths == [10] and pair.types[0] == [0] * 7 + [1] * 3
    assert tokenizer.truncation is None and tokenizer.padding is not None  # the caller's stays as it was


def test_joined_keeps_rows_in_order():
    tokenizer = tiny.tokenizer().backend_tokenizer
    one, two = (
        encode([("film",)], np.array([1]), tokenizer, 8),
        encode([("a plot",)], np.array([NO_LABEL]), tokenizer, 8),
    )
    both = one.joined(two)
    assert both.ids == one.ids + two.ids and both.targets.tolist() == [1, NO_LABEL] and both.lengths == [3, 4]


def test_loss_by_hand(task):
    logits = torch.tensor([[0.0, 0.0], [0.0, np.log(3.0)], [9.0, -9.0]], requires_grad=True)
    loss = task.loss(logits, torch.tensor([0, 1, NO_LABEL]))
    assert loss.item() == pytest.approx((np.log(2) + np.log(4 / 3)) / 2)  # the row without a label counts for nothing
    task.loss(logits, torch.full((3,), NO_LABEL)).backward()
    assert logits.grad.abs().sum() == 0


@given(some.lists(some.tuples(some.integers(0, 2), some.integers(0, 2)), min_size=1, max_size=30))
def test_scores_are_sklearns(rows):
    targets, predicted = (np.array(column) for column in zip(*rows, strict=True))
    scores = Classification(path="x").scores(np.eye(3)[predicted], targets)
    assert scores["accuracy"] == pytest.approx(sklearn.metrics.accuracy_score(targets, predicted))
    assert scores["f1_macro"] == pytest.approx(sklearn.metrics.f1_score(targets, predicted, average="macro", zero_division=0))  # fmt: skip


def test_the_fingerprint_changes_with_the_rows(tmp_path, rows_csv):
    first = Classification(path=str(rows_csv)).fingerprint()
    assert Classification(path=str(rows_csv)).fingerprint() == first
    assert Classification(path=str(rows_csv), max_tokens=9).fingerprint() != first
    other = tmp_path / "other.csv"
    other.write_text(rows_csv.read_text().replace("film", "plot", 1))
    assert Classification(path=str(other)).fingerprint() != first


@pytest.mark.parametrize("name", TASKS.names())
def test_every_task_constructs_and_names_its_metric(name):
    task = check(TASKS.load(name, Task), {})
    assert task.metric == "accuracy" and task.description
    assert all(field.description for field in type(task).model_fields.values())


def test_the_embedded_task():
    task = TASKS.load("rotten_tomatoes", Task)()
    splits = task.splits()
    assert sum(table.num_rows for table in splits.values()) == 8530
    assert task.labels == ["negative", "positive"]
    texts = {name: set(table.column("text").to_pylist()) for name, table in splits.items()}
    assert not texts["train"] & texts["test"] and not texts["train"] & texts["validation"]
    share = {name: np.mean(task.targets(table)) for name, table in splits.items()}
    assert max(share.values()) - min(share.values()) < 0.01
