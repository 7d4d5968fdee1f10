"""Untrusted JSON: invalid or oversized files are rejected in one line, before they take time or memory."""

import json

import pytest

from niwaki.core import strict_json
from niwaki.core.errors import InputError
from niwaki.core.files import write_json


@pytest.mark.parametrize("value", [{}, [], 1, {"a": [1, 2.5, None, True, "ä\n"]}, {"a": {"a": {"a": 1}}}])
def test_written_files_are_read_back(tmp_path, value):
    write_json(tmp_path / "x.json", value)
    assert strict_json.load(tmp_path / "x.json") == value


@pytest.mark.parametrize(
    "text, words",
    [
        ('{"a": 1, "a": 2}', "key 'a' is there twice"),
        ('{"b": {"a": 1, "a": 1}}', "twice"),
        ("[NaN]", "NaN is not JSON"),
        ("[-Infinity]", "is not JSON"),
        ("[" * 50_000, "too deep|cannot be read"),
        ("[" + "[]," * 600_000 + "[]]", "more than 1000000 values"),
        ("9" * 5000, "cannot be read"),
        ("{", "cannot be read as JSON"),
        ("\udcff", "cannot be read as JSON"),
    ],
)
def test_invalid_json_is_rejected(tmp_path, text, words):
    (tmp_path / "x.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(InputError, match=words) as caught:
        strict_json.load(tmp_path / "x.json")
    assert str(caught.value).startswith(str(tmp_path)) and "\n" not in str(caught.value)


def test_constants_are_accepted_on_request(tmp_path):
    (tmp_path / "x.json").write_text("[NaN, Infinity]")
    assert json.dumps(strict_json.load(tmp_path / "x.json", constants=True)) == "[NaN, Infinity]"


def test_large_missing_and_special_files_are_rejected(tmp_path):
    (tmp_path / "x.json").write_text("[1, 2, 3]")
    with pytest.raises(InputError, match="larger than"):
        strict_json.load(tmp_path / "x.json", max_bytes=8)
    with pytest.raises(InputError, match="not a plain file"):
        strict_json.read_bytes(tmp_path, 10)
    with pytest.raises(InputError, match="cannot be read"):
        strict_json.load(tmp_path / "none.json")
