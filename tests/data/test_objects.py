"""Objects in memory give the tables that the same rows in a file give. Rejected objects: tests/hostile/test_objects.py."""

import subprocess
import sys

import datasets
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from niwaki.core.errors import InputError
from niwaki.data.columns import guess_columns
from niwaki.data.objects import to_splits, to_table

ROWS = [{"text": "a warm film", "label": "good"}, {"text": "a dull plot", "label": "bad"}]
FRAME = pd.DataFrame(ROWS, index=[7, 3])
TABLES = {
    "list of dicts": ROWS,
    "dict of columns": {"text": [row["text"] for row in ROWS], "label": np.array(["good", "bad"])},
    "pandas": FRAME,
    "pandas, categorical": FRAME.astype({"label": "category"}),
    "pandas, Arrow types": FRAME.astype(pd.ArrowDtype(pa.large_string())),
    "pandas, objects": FRAME.astype(object),
    "polars": pl.DataFrame(ROWS),
    "polars, categorical": pl.DataFrame(ROWS).with_columns(pl.col("label").cast(pl.Categorical)),
    "dataset": datasets.Dataset.from_list(ROWS),
    "dataset with selected rows": datasets.Dataset.from_list([*ROWS[::-1], ROWS[0]]).select([2, 0]),
    "dataset with ClassLabel": datasets.Dataset.from_dict(
        {"text": [row["text"] for row in ROWS], "label": [1, 0]},
        features=datasets.Features(
            {"text": datasets.Value("large_string"), "label": datasets.ClassLabel(names=["bad", "good"])}
        ),
    ),
    "pyarrow": pa.Table.from_pylist(ROWS),
    "record batch": pa.RecordBatch.from_pylist(ROWS),
}


@pytest.mark.parametrize("data", TABLES.values(), ids=TABLES.keys())
def test_every_kind_of_table_gives_the_same_rows(data):
    table = to_table(data)
    assert table.to_pylist() == ROWS
    assert table.schema.types == [pa.string(), pa.string()]
    assert guess_columns(table, {}).columns == {"text": "text", "label": "label"}


TEXTS = ["a warm film", "a dull plot"]


@pytest.mark.parametrize(
    "texts",
    [
        TEXTS,
        tuple(TEXTS),
        np.array(TEXTS),
        np.array(TEXTS, dtype=object),
        np.array(TEXTS)[:, None],
        pd.Series(TEXTS, index=[9, 1]),
        pl.Series(TEXTS),
        pd.DataFrame({"text": TEXTS}),
    ],
    ids=lambda texts: type(texts).__name__,
)
@pytest.mark.parametrize(
    "y",
    [
        [1, 0],
        np.array([1, 0]),
        np.array([[1], [0]]),
        pd.Series([1, 0], index=[4, 5]),
        pl.Series([1, 0]),
        pd.DataFrame({"y": [1, 0]}),
    ],
    ids=lambda y: type(y).__name__,
)
def test_texts_and_labels_become_two_columns(texts, y):
    assert to_table(texts, y).to_pylist() == [{"text": TEXTS[0], "label": 1}, {"text": TEXTS[1], "label": 0}]


def test_texts_alone_become_one_column():
    assert to_table(TEXTS).to_pylist() == [{"text": text} for text in TEXTS]
    assert (
        to_table(pd.Series(TEXTS)).to_pylist() == to_table(np.array(TEXTS)).to_pylist() == to_table(TEXTS).to_pylist()
    )


def test_pairs_of_texts_with_labels():
    pairs = [("a", "b"), ("c", "d")]
    expected = [{"text": "a", "second": "b", "label": 0.5}, {"text": "c", "second": "d", "label": 2.0}]
    assert to_table(pairs, [0.5, 2.0]).to_pylist() == to_table(np.array(pairs), [0.5, 2]).to_pylist() == expected
    frame = pd.DataFrame(pairs, columns=["premise", "hypothesis"])
    assert to_table(frame, [0.5, 2]).column_names == ["premise", "hypothesis", "label"]


def test_splits_keep_their_usual_names():
    parts = {"train": FRAME, "dev": ROWS, "test_2": pl.DataFrame(ROWS)}
    assert {name: table.to_pylist() for name, table in to_splits(parts).items()} == {
        "train": ROWS,
        "validation": ROWS,
        "test_2": ROWS,
    }
    one = datasets.Dataset.from_list(ROWS)
    assert list(to_splits(datasets.DatasetDict(train=one, test=one, unsupervised=one))) == ["train", "test"]
    assert list(to_splits(ROWS)) == ["all"]


def test_a_path_is_read_as_files_are(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("text,label\na warm film,good\na dull plot,bad\n")
    assert to_table(path).to_pylist() == to_table(str(path)).to_pylist() == ROWS


def test_several_splits_are_not_one_table():
    with pytest.raises(InputError, match=r"^data: has the splits train, test; give one of them$"):
        to_table({"train": ROWS, "test": ROWS})


def test_no_other_library_is_imported():
    """pandas is left out: `pyarrow.array` imports it by itself where it is installed."""
    code = (
        "import sys; from niwaki.data.objects import to_table; to_table(['a'], [1]); "
        "assert not {'polars', 'datasets', 'torch'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
