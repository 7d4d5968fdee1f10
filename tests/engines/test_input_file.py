"""Inputs of files: which columns are read, which lines are bad and why, and the hash of the lines."""

import gzip
import json

import pytest

from niwaki.answers.choice import Choice
from niwaki.answers.label import Label
from niwaki.answers.span import Span
from niwaki.answers.tags import Tags
from niwaki.core.errors import InputError
from niwaki.data import limits
from niwaki.engines import input_file
from niwaki.engines.input_file import read_inputs, row_error
from niwaki.engines.input_lines import InputLines


def read(path, text, kind=None, columns=()):
    path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass"))
    return list(read_inputs(InputLines(path), kind or Label(), columns))


def objects(*values):
    return "".join(f"{json.dumps(value)}\n" for value in values)


def test_text_lines_with_pairs_and_without_a_final_newline(tmp_path):
    found = read(tmp_path / "a.txt", "a film\r\nthe plot\tit was dull\nthe end")
    assert [row.input for row in found] == ["a film", ("the plot", "it was dull"), "the end"]
    assert [row.line for row in found] == [1, 2, 3] and found[1].identity == {"text": "the plot\tit was dull"}


def test_lines_only_end_at_line_feeds(tmp_path):
    """str.splitlines would also cut at these; a line of the file and an answer must stay one for one."""
    (row,) = read(tmp_path / "a.txt", "a\u2028b\x0bc\x85d\x1ce\n")
    assert row.input == "a\u2028b\x0bc\x85d\x1ce"


@pytest.mark.parametrize(
    ("kind", "value", "given"),
    [
        (Label(), {"text": "a", "label": "x", "note": "b"}, "a"),
        (Label(), {"sentence": "a", "id": "7"}, "a"),
        (Label(), {"spoken_words": "a", "label": "x", "user_id": "b"}, "a"),
        (Label(), {"hypothesis": "b", "premise": "a"}, ("a", "b")),
        (Label(), {"premise": "a", "hypothesis": "b", "text": "c"}, ("a", "b")),
        (Tags(), {"tokens": ["a", "film"], "text": "no"}, ["a", "film"]),
        (Tags(), {"sentence": "a film."}, ["a", "film", "."]),
        (Span(), {"context": "the text", "question": "what", "title": "x"}, ("what", "the text")),
        (Choice(), {"ctx": "it was", "ctx_a": "it", "endings": ["good", "bad"]}, ("it was", ["good", "bad"])),
        (Choice(), {"text": "it was", "ending1": "b", "ending0": "a"}, ("it was", ["a", "b"])),
    ],
)
def test_columns_are_guessed_from_their_names(tmp_path, kind, value, given):
    (row,) = read(tmp_path / "a.jsonl", objects(value), kind)
    assert row.input == given and not row.error


@pytest.mark.parametrize("value", [{"one": "a b", "other": "c d"}, {"review": "a", "comment": "b"}, {"id": "a"}])
def test_ambiguous_columns_must_be_named(tmp_path, value):
    with pytest.raises(InputError, match=r"a\.jsonl: which column holds the texts is not clear.*--column"):
        read(tmp_path / "a.jsonl", objects(value))
    name = next(iter(value))
    assert read(tmp_path / "a.jsonl", objects(value), columns=[name])[0].input == value[name]


def test_row_is_identified_by_id_or_text(tmp_path):
    found = read(tmp_path / "a.jsonl", objects({"uuid": "x", "ID": 7, "text": "a"}, {"text": "b", "ID": None}))
    assert [row.identity for row in found] == [{"id": 7}, {"text": "b"}]


def test_every_kind_of_bad_line_is_reported_with_its_number(tmp_path):
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
        assert part in row.error and bool(part) == bool(row.error), row
    assert found[6].identity == {"id": 9} and found[8].identity == {}
    assert (
        row_error(tmp_path / "a.jsonl", found[3])
        == f'{tmp_path / "a.jsonl"}: line 4 is not an object; write {{"text": …}}'
    )


def test_oversized_line_is_one_bad_row(tmp_path, monkeypatch):
    monkeypatch.setattr(input_file, "MAX_ROW_BYTES", 100)
    found = read(tmp_path / "a.txt", "a\n" + "b" * 1000 + "\nc\n" + "d" * 100 + "\n" + "e" * 99 + "\n")
    assert [bool(row.error) for row in found] == [False, True, False, True, False]
    assert "is longer than" in found[1].error and [row.line for row in found] == [1, 2, 3, 4, 5]
    assert limits.MAX_ROW_BYTES == 8 << 20


def test_csv_with_quotes_line_breaks_and_bad_rows(tmp_path):
    text = 'id,text\n1,"a film, and\na plot"\n2,one,two\n3,\n\n4,caf\xe9\n5,"a ""good"" one"\n6,"open\n'.encode(
        "latin-1"
    )
    found = read(tmp_path / "a.csv", text)
    assert found[0].input == "a film, and\na plot" and found[0].identity == {"id": "1"}
    assert [row.line for row in found] == [2, 4, 5, 6, 7, 8, 9]
    wanted = ["", "has 3 cells and the header 2", "is empty", "is empty", "is not UTF-8", "", "cannot be read as csv"]
    assert all(part in row.error and bool(part) == bool(row.error) for row, part in zip(found, wanted, strict=True))
    assert found[5].input == 'a "good" one'


def test_csv_delimiter_is_guessed_from_the_header(tmp_path):
    assert [row.input for row in read(tmp_path / "a.csv", "id;text\n1;a, b\n")] == ["a, b"]
    assert [row.input for row in read(tmp_path / "a.tsv", "text\tlabel\na, b\tx\n")] == ["a, b"]


@pytest.mark.parametrize(
    ("name", "text"), [("a.csv", 'text,"lab\n'), ("b.csv", "text,text\n1,2\n"), ("c.csv", b"te\xe9t,a\n1,2\n")]
)
def test_invalid_csv_header_is_rejected(tmp_path, name, text):
    with pytest.raises(InputError, match=name):
        read(tmp_path / name, text)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_files_with_a_byte_order_mark_are_decoded(tmp_path, encoding):
    text = objects({"text": "naïve 日本"}) + '{"text": "b"}\n' * 3000
    found = read(tmp_path / "a.jsonl", text.encode(encoding))
    assert found[0].input == "naïve 日本" and len(found) == 3001


def test_compressed_and_truncated_files(tmp_path):
    packed = gzip.compress(b'{"text": "a"}\n' * 2000)
    assert len(read(tmp_path / "a.jsonl.gz", packed)) == 2000
    with pytest.raises(InputError, match=r"a\.jsonl\.gz: cannot be read after line"):
        read(tmp_path / "a.jsonl.gz", packed[:-12])
    with pytest.raises(InputError, match="it is gzip"):
        read(tmp_path / "a.jsonl", packed)
    with pytest.raises(InputError, match="convert it to jsonl"):
        read(tmp_path / "a.parquet", b"PAR2")
