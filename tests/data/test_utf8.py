"""Text files as UTF-8, whatever mark they begin with; the place of the first wrong byte."""

import codecs
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as some

from niwaki.core.errors import InputError
from niwaki.data.utf8 import Stream, blocks

TEXT = "a, é 日本語 😀\r\n" * 40


@pytest.mark.parametrize("size", [1, 2, 3, 7, 4096])
@pytest.mark.parametrize(
    "mark, encoding",
    [
        (b"", "utf-8"),
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
        (codecs.BOM_UTF32_LE, "utf-32-le"),
        (codecs.BOM_UTF32_BE, "utf-32-be"),
    ],
)
def test_boms_are_removed_and_characters_may_be_cut_anywhere(tmp_path, mark, encoding, size):
    (tmp_path / "x").write_bytes(mark + TEXT.encode(encoding))
    size = max(size, len(mark))
    assert b"".join(blocks(tmp_path / "x", size)).decode() == TEXT


@given(before=some.text(alphabet="aé😀", max_size=30), size=some.integers(1, 9))
def test_the_first_wrong_byte_is_named(tmp_path_factory, before, size):
    path = tmp_path_factory.mktemp("wrong") / "x.csv"
    path.write_bytes(before.encode() + b"\xe9" + b" after")
    with pytest.raises(InputError) as caught:
        list(blocks(path, size))
    assert f"byte {len(before.encode())} is 0xe9" in str(caught.value) and "iconv" in str(caught.value)


def test_the_command_that_converts_holds_for_any_file_name(tmp_path):
    path = tmp_path / "it's mine (2).csv"
    path.write_bytes(b"text,label\ncaf\xe9,1\n")
    with pytest.raises(InputError) as caught:
        list(blocks(path))
    command = str(caught.value).split("`")[1]
    subprocess.run(command, shell=True, cwd=tmp_path, check=True)
    assert (tmp_path / "utf8-it's mine (2).csv").read_text(encoding="utf-8") == "text,label\ncafé,1\n"


def test_a_character_cut_off_by_the_end(tmp_path):
    (tmp_path / "x").write_bytes("ab é".encode()[:-1])
    with pytest.raises(InputError, match="byte 3 is 0xc3"):
        list(blocks(tmp_path / "x"))


@given(parts=some.lists(some.binary(min_size=1, max_size=9)), size=some.integers(1, 20))
def test_a_stream_gives_all_bytes_in_order_and_full_answers_but_for_the_last(parts, size):
    stream = Stream(iter(parts))
    answers = list(iter(lambda: stream.read(size), b""))
    assert b"".join(answers) == b"".join(parts)
    assert all(len(answer) == size for answer in answers[:-1])
