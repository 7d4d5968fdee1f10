"""Cutting validation and test rows: how many rows it takes, and that it is not the user's fault where a label is rare."""

import pytest

from niwaki.core.errors import InputError
from niwaki.tasks._splitting import LEAST
from niwaki.tasks.classification import Classification
from niwaki.tasks.multilabel import Multilabel

from .rows import csv, folder, jsonl


def rows(count, labels="ab"):
    return [f"film number {n} was seen,{labels[n % len(labels)]}" for n in range(count)]


@pytest.mark.parametrize("count", range(1, LEAST))
def test_few_rows_are_too_few_and_the_number_needed_is_named(tmp_path, count):
    with pytest.raises(InputError) as caught:
        Classification(path=csv(tmp_path / "x.csv", "text,label", rows(count))).splits()
    message = str(caught.value)
    assert f"{count} rows are too few: niwaki cuts 10 % for validation and 15 % for test from them" in message
    assert f"at least {LEAST} rows" in message and "drop" not in message


@pytest.mark.parametrize("validation", [0.01, 0.05, 0.1, 0.3])
@pytest.mark.parametrize("labels", ["ab", "abcdefghij"])
def test_the_number_that_is_named_is_enough_and_so_is_every_larger_one(tmp_path, validation, labels):
    with pytest.raises(InputError) as caught:
        Classification(path=csv(tmp_path / "x.csv", "text,label", rows(5, labels)), validation=validation).splits()
    needed = int(str(caught.value).partition("at least ")[2].split()[0])
    for count in range(needed, needed + 30):
        task = Classification(path=csv(tmp_path / "x.csv", "text,label", rows(count, labels)), validation=validation)
        assert all(table.num_rows for table in task.splits().values()), count


def test_only_the_cut_part_is_requested(tmp_path):
    parts = [{"text": f"film number {n}", "label": n % 2} for n in range(9)]
    given = folder(tmp_path / "x", train=parts[:6], validation=parts[6:8], test=parts[8:])
    assert Classification(path=given).splits()["train"].num_rows == 6
    with pytest.raises(InputError, match=r"9 rows are too few: niwaki cuts 10 % for validation from them"):
        Classification(path=folder(tmp_path / "y", train=parts[:6], test=parts[6:])).splits()


@pytest.mark.parametrize("count", [20, 24, 40])
def test_a_rare_label_stays_among_the_train_rows(tmp_path, count):
    """Each label has one or two rows: whichever rows are cut, every label must be left to learn from."""
    labels = [f"l{n % (count // 2 + 3)}" for n in range(count)]
    path = csv(
        tmp_path / "x.csv", "text,label", [f"film number {n} was seen,{label}" for n, label in enumerate(labels)]
    )
    task = Classification(path=path)
    splits = task.splits()
    seen = set(splits["train"].column("label").to_pylist())
    assert seen == set(labels) and sum(table.num_rows for table in splits.values()) == count
    assert any("too few rows for a split have the labels" in remark for remark in task.data.remarks())


def test_a_rare_label_of_several_stays_among_the_train_rows(tmp_path):
    for rare in range(40):
        built = [
            {"text": f"film number {n}", "labels": ["a", "rare"] if n == rare else ["a", "b"][: n % 3]}
            for n in range(40)
        ]
        task = Multilabel(path=jsonl(tmp_path / f"{rare}.jsonl", built))
        assert "rare" in task.labels
        texts = [text for table in task.splits().values() for text in table.column("text").to_pylist()]
        assert sorted(texts) == sorted(row["text"] for row in built)


def test_the_same_text_is_moved_with_its_rare_label(tmp_path):
    for rare in range(30):
        lines = [*rows(30), f"film number {rare} was seen,rare"]
        task = Classification(path=csv(tmp_path / f"{rare}.csv", "text,label", lines))
        parts = {part: set(table.column("text").to_pylist()) for part, table in task.splits().items()}
        assert "rare" in task.labels
        assert not parts["train"] & parts["test"] and not parts["train"] & parts["validation"]
