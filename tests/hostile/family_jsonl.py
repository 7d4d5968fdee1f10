"""JSON rows that are deep, wide or long."""

import gzip
import json


def _with(sound, folder, data, name="rows.jsonl"):
    path = folder / name
    path.write_bytes(data)
    return sound.rows_in(path)


ROW = b'{"text": "a lovely film", "label": "good"}\n'


def lists_nested_without_end(sound, folder):
    return _with(sound, folder, b'{"text": ' + b"[" * 200_000 + b"]" * 200_000 + b', "label": "a"}\n')


def objects_nested_without_end(sound, folder):
    return _with(sound, folder, b'{"text":' * 200_000 + b"1" + b"}" * 200_000 + b"\n")


def a_list_of_rows_nested_without_end(sound, folder):
    return _with(sound, folder, b'[{"text":' + b"[" * 200_000 + b"]" * 200_000 + b"}]", "rows.json")


def a_new_key_in_every_row(sound, folder):
    rows = "".join(json.dumps({f"k{k}": k, "text": "a film", "label": "good"}) + "\n" for k in range(20_000))
    return _with(sound, folder, rows.encode())


def a_row_of_a_hundred_thousand_keys(sound, folder):
    return _with(sound, folder, json.dumps({f"k{k}": k for k in range(100_000)}).encode() + b"\n")


def keys_with_blanks_before_their_colons(sound, folder):
    return _with(sound, folder, b"{" + b", ".join(b'"k%d" \t: 1' % k for k in range(100_000)) + b"}\n")


def a_row_of_twenty_megabytes(sound, folder):
    return _with(sound, folder, b'{"text": "' + b"a" * (20 << 20) + b'", "label": "good"}\n')


def a_list_of_ten_million(sound, folder):
    return _with(sound, folder, b'{"text": [' + b"1," * 10_000_000 + b'1], "label": "good"}\n')


def a_gzip_bomb(sound, folder):
    return _with(sound, folder, gzip.compress(ROW * 3_000_000, 9), "rows.jsonl.gz")


def rows_that_are_no_objects(sound, folder):
    return _with(sound, folder, b'["__import__", "os"]\n' * 1000)
