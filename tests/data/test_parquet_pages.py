"""Headers of parquet pages, against what pyarrow says of the same file."""

import pyarrow as pa
import pytest
from pyarrow import parquet

from niwaki.data.dataset_files import read_splits
from niwaki.data.parquet_pages import DICTIONARY, chunks, largest_dictionary, pages

TABLE = pa.table(
    {
        "text": [f"film number {k} was {'good' if k % 3 else 'bad'}" for k in range(20_000)],
        "label": ["good", "bad"] * 10_000,
        "tags": [["a", "b"][: k % 3] for k in range(20_000)],
        "score": [k / 7 for k in range(20_000)],
    }
)


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("compression", ["none", "snappy", "zstd", "gzip"])
def test_pages_fill_their_columns_to_the_byte(tmp_path, compression, version):
    path = tmp_path / "x.parquet"
    parquet.write_table(
        TABLE,
        path,
        compression=compression,
        data_page_version=version,
        data_page_size=10_000,
        row_group_size=7_000,
        write_page_checksum=True,
    )
    metadata = parquet.read_metadata(path)
    columns = [
        metadata.row_group(g).column(c) for g in range(metadata.num_row_groups) for c in range(metadata.num_columns)
    ]
    found = list(chunks(metadata, None))
    assert len(found) == len(columns)
    with path.open("rb") as file:
        for (first, last), column in zip(found, columns, strict=True):
            sizes = list(pages(path, file, first, last))
            headers = column.total_compressed_size - sum(page.packed for page in sizes)
            assert sum(page.unpacked for page in sizes) + headers == column.total_uncompressed_size
            assert any(page.kind == DICTIONARY for page in sizes) == column.has_dictionary_page
    assert 0 < largest_dictionary(path, metadata, ["label"]) < largest_dictionary(path, metadata, None)
    assert read_splits(path)["all"].equals(TABLE)


def test_few_rows_at_once_give_the_same_table(tmp_path):
    path = tmp_path / "x.parquet"
    texts = [f"{k} " + "lovely " * 20_000 for k in range(60)]
    table = pa.table({"text": texts, "label": ["good", "bad"] * 30})
    parquet.write_table(table, path, dictionary_pagesize_limit=1 << 30, compression="none")
    assert largest_dictionary(path, parquet.read_metadata(path), None) > 8_000_000
    assert read_splits(path)["all"].equals(table)
