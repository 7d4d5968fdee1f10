"""Lines of an input file or of standard input."""

import codecs
import hashlib
import io
import sys

from niwaki.answers.label import Label
from niwaki.engines.input_file import read_inputs
from niwaki.engines.input_lines import STDIN, InputLines


def test_lines_are_read_from_stdin(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a\nb\n")))
    assert [row.input for row in read_inputs(InputLines(STDIN), Label())] == ["a", "b"]


def test_byte_order_mark_on_stdin_is_removed(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(codecs.BOM_UTF8 + b"a\nb\n")))
    assert [row.input for row in read_inputs(InputLines(STDIN), Label())] == ["a", "b"]


def test_hash_covers_the_lines_that_were_read(tmp_path):
    (tmp_path / "a.txt").write_text("a\nb\nc\n")
    lines = InputLines(tmp_path / "a.txt")
    found = read_inputs(lines, Label())
    next(found), next(found)
    assert lines.digest == hashlib.sha256(b"a\nb\n").hexdigest() and lines.bytes == 4 and lines.size == 6
