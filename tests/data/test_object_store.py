"""Tables in memory are written as files that the readers take."""

import pyarrow as pa

from niwaki.data.dataset_files import read_table
from niwaki.data.object_store import write_splits

ROWS = pa.table({"text": ["a film", "a plot"], "label": ["good", "bad"]})


def test_rows_without_splits_become_one_file(tmp_path):
    path = write_splits({"all": ROWS}, tmp_path / "rows")
    assert path.name == "data.parquet" and read_table(path).to_pydict() == ROWS.to_pydict()


def test_splits_become_one_file_each(tmp_path):
    folder = write_splits({"train": ROWS, "test": ROWS.slice(1)}, tmp_path / "rows")
    assert read_table(folder / "test.parquet").to_pydict() == {"text": ["a plot"], "label": ["bad"]}
    assert {path.name for path in folder.glob("*.parquet")} == {"train.parquet", "test.parquet"}
