"""Tables in text that unpack without end, or have more of something than any table."""

import gzip
import zipfile

HEAD = b"text,label\n"
ROW = b"a lovely film with a very long name,good\n"


def _with(sound, folder, data, name="rows.csv"):
    path = folder / name
    path.write_bytes(data)
    return sound.rows_in(path)


def a_gzip_bomb(sound, folder):
    return _with(sound, folder, gzip.compress(HEAD + ROW * 3_000_000, 9), "rows.csv.gz")


def a_bomb_of_blanks(sound, folder):
    return _with(sound, folder, gzip.compress(b" " * (200 << 20), 9), "rows.csv.gz")


def a_million_columns_without_names(sound, folder):
    return _with(sound, folder, b"," * 900_000 + b"\n" + b"," * 900_000)


def a_hundred_thousand_columns(sound, folder):
    return _with(sound, folder, ",".join(f"c{k}" for k in range(100_000)).encode() + b"\n" + b"," * 99_999 + b"\n")


def a_row_of_twenty_megabytes(sound, folder):
    return _with(sound, folder, HEAD + b"a" * (20 << 20) + b",good\n" + ROW)


def a_quote_that_never_closes(sound, folder):
    return _with(sound, folder, HEAD + b'"' + ROW * 300_000)


def bytes_that_are_no_text(sound, folder):
    return _with(sound, folder, HEAD + b"\x00\xff\xfe" * 1000)


def an_archive_under_another_name(sound, folder):
    path = folder / "rows.csv"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("../../evil.py", "x")
    return sound.rows_in(path)


def a_gzip_cut_short(sound, folder):
    return _with(sound, folder, gzip.compress(HEAD + ROW * 1000)[:-20], "rows.csv.gz")


def a_label_for_every_row(sound, folder):
    return _with(sound, folder, HEAD + b"".join(b"film number %d was good,label %d\n" % (k, k) for k in range(20_000)))
