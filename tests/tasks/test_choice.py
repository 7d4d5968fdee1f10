"""Endings: from columns and from lists, losses over each row's own, and what is no ending is rejected."""

import numpy as np
import pyarrow as pa
import pytest
import torch

from niwaki.core.errors import InputError
from niwaki.tasks.choice import Choice

from .rows import TEXTS, TOKENIZER, counts, csv, folder, jsonl, only

ENDINGS = ["was good.", "is bad", "and a plot"]


def row(number, **other):
    columns = {f"ending{place}": ending for place, ending in enumerate(ENDINGS)}
    return {"startphrase": TEXTS[number], **columns, "label": number % 3, **other}


def task_on(tmp_path, *more, change=None, **settings):
    rows = [row(number, **(change or {})) for number in range(60)]
    return Choice(path=jsonl(tmp_path / "rows.jsonl", [*rows, *more]), **settings)


def test_endings_from_columns_and_from_lists_are_the_same(tmp_path):
    columns = task_on(tmp_path)
    lists = Choice(
        path=folder(tmp_path / "x", train=[{"ctx": TEXTS[n], "endings": ENDINGS, "label": n % 3} for n in range(60)])
    )
    lines = [f"{TEXTS[number]},{','.join(ENDINGS)},{number % 3}" for number in range(60)]
    cells = Choice(path=csv(tmp_path / "x.csv", "startphrase,ending0,ending1,ending2,label", lines))
    for task in (columns, lists, cells):
        table = task.splits()["train"]
        assert counts(task) == {"train": 45, "validation": 6, "test": 9}
        assert task.inputs(table)[0] == (table.column("text")[0].as_py(), ENDINGS)
        assert all(
            TEXTS.index(text) % 3 == label
            for (text, _), label in zip(task.inputs(table), task.gold(table), strict=True)
        )
    assert columns.splits()["test"] == lists.splits()["test"] == cells.splits()["test"]


@pytest.mark.parametrize("endings", [["ending2", "ending0"], "ending2,ending0", "ending2, ending0"])
def test_named_columns_in_the_order_they_are_named(tmp_path, endings):
    rows = [row(number, label=number % 2) for number in range(60)]
    task = Choice(path=jsonl(tmp_path / "x.jsonl", rows), endings=endings)
    assert {tuple(given) for _, given in task.inputs(task.splits()["train"])} == {(ENDINGS[2], ENDINGS[0])}


def test_rows_of_training_hold_all_endings(tmp_path):
    task = task_on(tmp_path)
    table = task.splits()["train"]
    features = task.features(table, TOKENIZER)
    assert len(features) == 45 and len(features.rows.ids) == 135 and features.targets.tolist() == task.gold(table)
    lengths = features.rows.ids.lengths
    assert features.lengths.tolist() == [max(lengths[3 * number : 3 * number + 3]) for number in range(45)]


def test_loss_and_soft_loss_are_over_the_endings_of_each_row():
    task, batch = Choice(path="x"), only(torch.tensor([1, 0]))
    logits = torch.log(torch.tensor([[1.0], [3.0], [1.0], [1.0]]))  # two rows of two endings
    assert task.criterion.loss(logits, batch).item() == pytest.approx((np.log(4 / 3) + np.log(2)) / 2)
    student, teacher = torch.zeros(4, 1), 2 * logits
    at_two = 0.75 * np.log(0.75 / 0.5) + 0.25 * np.log(0.25 / 0.5)
    assert task.criterion.soft_loss(student, teacher, batch, 2.0).item() == pytest.approx(4 * at_two / 2, rel=1e-5)


def test_accuracy_by_hand():
    task = Choice(path="x")
    example_stats = task.scorer.example_stats([0, 1, 1, 2], pa.table({"label": [0, 1, 2, 2]}))
    assert example_stats.tolist() == [[0, 0], [1, 1], [1, 2], [2, 2]] and task.scorer.scores(example_stats) == {
        "accuracy": 0.75
    }
    assert task.scorer.parse_value("2") == 2
    assert task.scorer.errors(example_stats).tolist() == [0, 0, 1, 0]


@pytest.mark.parametrize("label", ["1", 1.0, 1])
def test_whole_numbers_in_any_dress_are_labels(tmp_path, label):
    task = task_on(tmp_path, change={"label": label})
    assert set(task.gold(task.splits()["train"])) == {1}


@pytest.mark.parametrize(
    "more, message",
    [
        (row(1, label=1.5), "column 'label' must hold numbers of endings, counted from 0"),
        (row(1, label=3), "column 'label' must hold numbers from 0 to 2"),
        (row(1, label=-1), "column 'label' must hold numbers from 0 to 2"),
        (row(1, label=None), "empty cells ('label' 1)"),
        (row(1, ending1=None), "empty cells ('endings' 1)"),
        (row(1, ending1=" "), "empty cells ('endings' 1)"),
        (row(1, startphrase=""), "empty cells ('startphrase' 1)"),
        (row(1, startphrase=None), "empty cells ('startphrase' 1)"),
    ],
)
def test_rows_that_cannot_be_used_are_rejected(tmp_path, more, message):
    with pytest.raises(InputError) as caught:
        task_on(tmp_path, more).splits()
    assert message in str(caught.value)


def test_letters_are_no_numbers(tmp_path):
    with pytest.raises(InputError, match=r"must hold numbers of endings, counted from 0 \(.*'B'"):
        task_on(tmp_path, change={"label": "B"}).splits()


@pytest.mark.parametrize(
    "endings, message",
    [
        (["a", "b", "c"], r"have \[2, 3\] endings; all must have as many, two or more"),
        (None, "empty cells"),
        ([], "empty cells"),
        (["a", None], "empty cells"),
    ],
)
def test_lists_that_are_uneven_or_missing_are_rejected(tmp_path, endings, message):
    rows = [{"ctx": text, "endings": ["x", "y"], "label": 0} for text in TEXTS]
    task = Choice(path=jsonl(tmp_path / "x.jsonl", [*rows, {"ctx": "one", "endings": endings, "label": 0}]))
    with pytest.raises(InputError, match=message):
        task.splits()


def test_one_column_of_texts_is_not_several_endings(tmp_path):
    with pytest.raises(InputError, match="column 'ending0' does not hold lists; name the columns of all endings"):
        task_on(tmp_path, text="startphrase", endings="ending0", label="label").splits()
