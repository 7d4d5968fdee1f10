"""What a column contains, guessed from a sample of its rows."""

import pyarrow as pa

from niwaki.data.columns import ColumnGuess, guess_columns


def test_sample_covers_the_whole_table():
    """Sorted by label: the first ten thousand rows have one label only."""
    table = pa.table(
        {"a": [f"some words of row {number}" for number in range(60_000)], "b": ["x"] * 30_000 + ["y"] * 30_000}
    )
    assert guess_columns(table, {}) == ColumnGuess("classification", {"text": "a", "label": "b"})


def test_one_decimal_anywhere_makes_a_column_of_measurements():
    table = pa.table(
        {
            "text": [f"some words of row {number}" for number in range(60_000)],
            "label": ["1"] * 59_000 + ["1.5"] + ["0"] * 999,
        }
    )
    assert guess_columns(table, {}).kind == "regression"
