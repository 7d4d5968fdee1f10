"""Every column of a user's file is either read or listed as not used."""

import pytest

from niwaki.tasks import TASKS
from niwaki.tasks._task import Task
from niwaki.tasks.classification import Classification

from .inventory import write_inventory
from .rows import TEXTS, csv, jsonl
from .test_task import BY_FORM

PAIRS = [f"{text},the plot of number {n} is given,{n},{'ab'[n % 2]}" for n, text in enumerate(TEXTS)]


def pairs(tmp_path, **settings):
    return Classification(path=csv(tmp_path / "x.csv", "first,other text,id,label", PAIRS), label="label", **settings)


def test_a_second_column_of_texts_is_not_dropped_without_a_word(tmp_path):
    remark = pairs(tmp_path, text="first").data.remarks()[0]
    assert "text: first, label: label; not used: other text, id" in remark
    assert remark.endswith("(to read pairs of texts, add --set 'data.second=other text')")


def test_a_pair_leaves_no_text_unused(tmp_path):
    task = pairs(tmp_path, text="first", second="other text")
    assert task.data.remarks()[0].endswith("text: first, second: other text, label: label; not used: id")
    assert task.splits()["train"].column_names == ["text", "second", "label"]


def test_many_unused_columns_are_counted_and_texts_come_first(tmp_path):
    wide = [
        {**{f"n{k}": k for k in range(20)}, "text": text, "title": text[::-1], "label": n % 2}
        for n, text in enumerate(TEXTS)
    ]
    remark = Classification(path=jsonl(tmp_path / "x.jsonl", wide), text="text", label="label").data.remarks()[0]
    assert "; not used: title, n0, n1, n2, n3, n4, n5, n6 and 13 more (to read pairs" in remark


@pytest.mark.parametrize("form", [form for form in BY_FORM if form != "images"])  # whose columns are not guessed
def test_every_task_lists_what_it_does_not_read(tmp_path, form):
    write_inventory(tmp_path / "wordnet30")  # for senses
    rows = [{**row, "nobody reads this": n} for n, row in enumerate(BY_FORM[form])]
    remark = TASKS.load(form, Task)(path=jsonl(tmp_path / "x.jsonl", rows)).data.remarks()[0]
    also = "en, de, " if form == "generation" else ""
    assert remark.endswith(f"; not used: {also}nobody reads this"), remark
