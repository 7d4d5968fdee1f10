"""Parquet: types of other programs."""

import pyarrow as pa
from pyarrow import parquet

from niwaki.data.dataset_files import read_table


def test_types_of_other_programs_are_converted(tmp_path):
    words = pa.array(["a", "b", "a"])
    table = pa.table(
        {
            "d": words.dictionary_encode(),
            "l": words.cast(pa.large_string()),
            "v": pa.array([["a"], [], ["b"]], pa.large_list(pa.large_string())),
        }
    )
    parquet.write_table(table, tmp_path / "x.parquet")
    read_again = read_table(tmp_path / "x.parquet")
    assert read_again.to_pylist() == table.to_pylist()
    assert read_again.schema.types[:2] == [pa.string()] * 2 and read_again.schema.types[2].value_type == pa.string()
