"""Parquet that claims, repeats and unpacks without end."""

import struct

import pyarrow as pa
from pyarrow import parquet

LABELS = ["good", "bad"]


def _with(sound, folder, table, **how):
    path = folder / "rows.parquet"
    parquet.write_table(table, path, **how)
    return sound.rows_in(path)


def _bytes(sound, folder, spoil):
    path = folder / "rows.parquet"
    parquet.write_table(pa.table({"text": ["a film", "a plot"] * 50, "label": LABELS * 50}), path, compression="none")
    path.write_bytes(spoil(bytearray(path.read_bytes())))
    return sound.rows_in(path)


def a_page_of_blanks(sound, folder):
    return _with(
        sound,
        folder,
        pa.table({"text": [" " * 100_000_000], "label": ["good"]}),
        compression="zstd",
        use_dictionary=False,
    )


def one_megabyte_twenty_thousand_times(sound, folder):
    texts = pa.DictionaryArray.from_arrays(pa.array([0] * 20_000, pa.int32()), pa.array(["film " * 200_000]))
    table = pa.table({"text": texts, "label": LABELS * 10_000})
    return _with(sound, folder, table, compression="zstd", dictionary_pagesize_limit=1 << 30)


def thirty_million_rows_of_nothing(sound, folder):
    size = 30_000_000
    table = pa.table({"text": pa.nulls(size, pa.string()), "label": pa.nulls(size, pa.string())})
    return _with(sound, folder, table)


def twenty_thousand_columns(sound, folder):
    return _with(sound, folder, pa.table({f"c{k}": [1] for k in range(20_000)}))


def a_column_twice(sound, folder):
    return _with(sound, folder, pa.Table.from_arrays([pa.array(["a"]), pa.array(["b"])], names=["text", "text"]))


def a_footer_of_gigabytes(sound, folder):
    return _bytes(sound, folder, lambda data: data[:-8] + struct.pack("<I", 3 << 30) + b"PAR1")


def a_page_that_claims_gigabytes(sound, folder):
    def spoil(data):
        at = 4  # the first page: kind (0x15 n), size unpacked (0x15 n…), size packed
        assert data[at] == 0x15 and data[at + 2] == 0x15
        return data[: at + 3] + b"\xfc\xff\xff\xff\x0f" + data[at + 4 :]

    return _bytes(sound, folder, spoil)


def a_page_without_a_header(sound, folder):
    return _bytes(sound, folder, lambda data: data[:4] + b"\xff" * 60 + data[64:])


def a_file_cut_short(sound, folder):
    return _bytes(sound, folder, lambda data: data[: len(data) // 2])


def text_under_its_name(sound, folder):
    path = folder / "rows.parquet"
    path.write_bytes(b"PAR1" + b"cos\nsystem\n(S'id'\ntR." * 100)
    return sound.rows_in(path)
