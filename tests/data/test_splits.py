"""Splits by hash: duplicates together, labels in proportion, the order of the rows does not matter."""

import random

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as some

from niwaki.data.splits import assign, split_by_hash

ROWS = some.lists(some.tuples(some.text(max_size=3), some.sampled_from("ab")), min_size=1, max_size=60)


@given(rows=ROWS, shuffle=some.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter_and_duplicates_stay_together(rows, shuffle):
    texts, labels = zip(*rows, strict=True)
    first = assign(texts, labels, 0.2, 0.2)
    assert set(first) == set(texts)  # one part for each text
    again = list(rows)
    shuffle.shuffle(again)
    assert assign(*zip(*again, strict=True), 0.2, 0.2) == first


def test_shares_hold_within_each_label():
    rows = [(f"text {number}", "rare" if number % 10 == 0 else "common") for number in range(1000)]
    table = pa.table({"t": [text for text, _ in rows], "l": [label for _, label in rows]})
    parts = split_by_hash(table, "t", "l", validation=0.1, test=0.2)
    assert {name: part.num_rows for name, part in parts.items()} == {"train": 700, "validation": 100, "test": 200}
    assert {name: part.column("l").to_pylist().count("rare") for name, part in parts.items()} == {"train": 70, "validation": 10, "test": 20}  # fmt: skip


def test_rows_keep_their_order_and_none_is_lost():
    texts = [f"text {random.Random(0).random()} {number}" for number in range(50)] * 2
    parts = split_by_hash(pa.table({"t": texts, "l": ["x"] * 100}), "t", "l", 0.2, 0.2)
    assert sum(part.num_rows for part in parts.values()) == 100
    for part in parts.values():
        places = [texts.index(text) for text in part.column("t").to_pylist()]
        half = len(places) // 2
        assert places[:half] == sorted(places[:half]) == places[half:]


def test_no_share_gives_no_rows():
    parts = split_by_hash(pa.table({"t": ["a", "b"], "l": ["x", "y"]}), "t", "l", 0.0, 0.0)
    assert (parts["train"].num_rows, parts["validation"].num_rows, parts["test"].num_rows) == (2, 0, 0)
