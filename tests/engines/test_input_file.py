"""Inputs of files, one after the other: which columns, which lines are bad and why, and the hash of what was read."""

import codecs
import gzip
import hashlib
import io
import json
import sys

import pytest

from niwaki.answers.choice import Choice
from niwaki.answers.label import Label
from niwaki.answers.span import Span
from niwaki.answers.tags import Tags
from niwaki.core.errors import InputError
from niwaki.data import limits
from niwaki.engines import input_file
from niwaki.engines.input_file import STDIN, InputLines, read_inputs, row_error


def read(path, text, kind=None, columns=()):
    path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass"))
    return list(read_inputs(InputLines(path), kind or Label(), columns))


def objects(*values):
    return "".join(f"{json.dumps(value)}\n" for value in values)


def test_lines_of_text_with_pairs_and_no_end(tmp_path):
    found = read(tmp_path / "a.txt", "a film\r\nthe plot\tit was dull\nthe end")
    assert [row.given for row in found] == ["a film", ("the plot", "it was dull"), "the end"]
    assert [row.line for row in found] == [1, 2, 3] and found[1].about == {"text": "the plot\tit was dull"}


def test_a_line_ends_at_a_line_feed_and_nowhere_else(tmp_path):
    """str.splitlines would also cut at these; a line of the file and an answer must stay one for one."""
    (row,) = read(tmp_path / "a.txt", "a\u2028b\x0bc\x85d\x1ce\n")
    assert row.given == "a\u2028b\x0bc\x85d\x1ce"


@pytest.mark.parametrize(
    ("kind", "value", "given"),
    [
        (Label(), {"text": "a", "label": "x", "note": "b"}, "a"),
        (Label(), {"sentence": "a", "id": "7"}, "a"),
        (Label(), {"what_was_said": "a", "label": "x", "user_id": "b"}, "a"),
        (Label(), {"hypothesis": "b", "premise": "a"}, ("a", "b")),
        (Label(), {"premise": "a", "hypothesis": "b", "text": "c"}, ("a", "b")),
        (Tags(), {"tokens": ["a", "film"], "text": "no"}, ["a", "film"]),
        (Tags(), {"sentence": "a film."}, ["a", "film", "."]),
        (Span(), {"context": "the text", "question": "what", "title": "x"}, ("what", "the text")),
        (Choice(), {"ctx": "it was", "ctx_a": "it", "endings": ["good", "bad"]}, ("it was", ["good", "bad"])),
        (Choice(), {"text": "it was", "ending1": "b", "ending0": "a"}, ("it was", ["a", "b"])),
    ],
)
def test_columns_are_told_by_their_names(tmp_path, kind, value, given):
    (row,) = read(tmp_path / "a.jsonl", objects(value), kind)
    assert row.given == given and not row.fault


@pytest.mark.parametrize("value", [{"one": "a b", "other": "c d"}, {"review": "a", "comment": "b"}, {"id": "a"}])
def test_unclear_columns_are_asked_for(tmp_path, value):
    with pytest.raises(InputError, match=r"a\.jsonl: which column holds the texts is not clear.*--column"):
        read(tmp_path / "a.jsonl", objects(value))
    name = next(iter(value))
    assert read(tmp_path / "a.jsonl", objects(value), columns=[name])[0].given == value[name]


def test_a_row_is_known_by_its_id_else_by_its_text(tmp_path):
    found = read(tmp_path / "a.jsonl", objects({"uuid": "x", "ID": 7, "text": "a"}, {"text": "b", "ID": None}))
    assert [row.about for row in found] == [{"id": 7}, {"text": "b"}]


def test_every_kind_of_bad_line_is_told_by_its_number(tmp_path):
    text = (
        objects({"text": "a film", "id": 1}).encode()
        + b'{"text": "a\n\n[1]\n{"other": "b"}\n{"text": ""}\n{"text": 3, "id": 9}\ncaf\xe9\n{"text": "\\ud83d"}\n'
        + b"[" * 100_000
        + b'\n{"text": "the end"}\n'
    )
    found = read(tmp_path / "a.jsonl", text)
    wanted = [
        "",
        "is not JSON (Unterminated",
        "is empty",
        "is not an object",
        "has no 'text'",
        "is empty",
        "(given: int)",
        "is not UTF-8",
        "half a surrogate pair (U+D83D)",
        "nested too deep",
        "",
    ]
    assert [row.line for row in found] == list(range(1, 12))
    for row, part in zip(found, wanted, strict=True):
        assert part in row.fault and bool(part) == bool(row.fault), row
    assert found[6].about == {"id": 9} and found[8].about == {}
    assert (
        row_error(tmp_path / "a.jsonl", found[3])
        == f'{tmp_path / "a.jsonl"}: line 4 is not an object; write {{"text": …}}'
    )


def test_a_line_beyond_measure_is_one_bad_line_and_not_held(tmp_path, monkeypatch):
    monkeypatch.setattr(input_file, "MAX_ROW_BYTES", 100)
    found = read(tmp_path / "a.txt", "a\n" + "b" * 1000 + "\nc\n" + "d" * 100 + "\n" + "e" * 99 + "\n")
    assert [bool(row.fault) for row in found] == [False, True, False, True, False]
    assert "is longer than" in found[1].fault and [row.line for row in found] == [1, 2, 3, 4, 5]
    assert limits.MAX_ROW_BYTES == 8 << 20


def test_csv_with_quotes_line_ends_and_bad_rows(tmp_path):
    text = 'id,text\n1,"a film, and\na plot"\n2,one,two\n3,\n\n4,caf\xe9\n5,"a ""good"" one"\n6,"open\n'.encode(
        "latin-1"
    )
    found = read(tmp_path / "a.csv", text)
    assert found[0].given == "a film, and\na plot" and found[0].about == {"id": "1"}
    assert [row.line for row in found] == [2, 4, 5, 6, 7, 8, 9]
    wanted = ["", "has 3 cells and the header 2", "is empty", "is empty", "is not UTF-8", "", "cannot be read as csv"]
    assert all(part in row.fault and bool(part) == bool(row.fault) for row, part in zip(found, wanted, strict=True))
    assert found[5].given == 'a "good" one'


def test_the_mark_of_a_csv_is_told_by_its_header(tmp_path):
    assert [row.given for row in read(tmp_path / "a.csv", "id;text\n1;a, b\n")] == ["a, b"]
    assert [row.given for row in read(tmp_path / "a.tsv", "text\tlabel\na, b\tx\n")] == ["a, b"]


@pytest.mark.parametrize(
    ("name", "text"), [("a.csv", 'text,"lab\n'), ("b.csv", "text,text\n1,2\n"), ("c.csv", b"te\xe9t,a\n1,2\n")]
)
def test_a_header_that_is_none(tmp_path, name, text):
    with pytest.raises(InputError, match=name):
        read(tmp_path / name, text)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_files_with_a_mark_of_their_encoding(tmp_path, encoding):
    text = objects({"text": "naïve 日本"}) + '{"text": "b"}\n' * 3000
    found = read(tmp_path / "a.jsonl", text.encode(encoding))
    assert found[0].given == "naïve 日本" and len(found) == 3001


def test_packed_files_and_torn_ones(tmp_path):
    packed = gzip.compress(b'{"text": "a"}\n' * 2000)
    assert len(read(tmp_path / "a.jsonl.gz", packed)) == 2000
    with pytest.raises(InputError, match=r"a\.jsonl\.gz: cannot be read on after line"):
        read(tmp_path / "a.jsonl.gz", packed[:-12])
    with pytest.raises(InputError, match="it is gzip"):
        read(tmp_path / "a.jsonl", packed)
    with pytest.raises(InputError, match="write it as jsonl"):
        read(tmp_path / "a.parquet", b"PAR2")


def test_stdin(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a\nb\n")))
    assert [row.given for row in read_inputs(InputLines(STDIN), Label())] == ["a", "b"]


def test_a_byte_order_mark_on_stdin_is_no_part_of_the_text(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(codecs.BOM_UTF8 + b"a\nb\n")))
    assert [row.given for row in read_inputs(InputLines(STDIN), Label())] == ["a", "b"]


def test_the_hash_is_of_the_lines_that_were_read(tmp_path):
    (tmp_path / "a.txt").write_text("a\nb\nc\n")
    lines = InputLines(tmp_path / "a.txt")
    found = read_inputs(lines, Label())
    next(found), next(found)
    assert lines.digest == hashlib.sha256(b"a\nb\n").hexdigest() and lines.bytes == 4 and lines.size == 6
