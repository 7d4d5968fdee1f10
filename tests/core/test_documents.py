"""A document that was edited, damaged or lost a sibling file is rejected; other whitespace is not an edit."""

import json

import pytest

from niwaki.core.documents import digest_of, fault_in_document, read_document, write_document
from niwaki.core.errors import InputError
from niwaki.core.files import sha256

VALUE = {"score": 0.98, "rows": {2: "two", 10: "ten"}, "not": float("nan"), "text": "naïve"}


@pytest.fixture
def path(tmp_path):
    (tmp_path / "rows.npy").write_bytes(b"rows")
    write_document(tmp_path / "a.json", VALUE, ["rows.npy"])
    return tmp_path / "a.json"


def test_what_was_written_is_read(path):
    document = read_document(path)
    assert document["score"] == 0.98 and document["rows"] == {"2": "two", "10": "ten"}
    path.write_text(json.dumps(document))
    assert fault_in_document(path) is None


def edits():
    yield lambda document: {**document, "score": 0.11}
    yield lambda document: {**document, "more": 1}
    yield lambda document: {key: value for key, value in document.items() if key != "score"}
    yield lambda document: {key: value for key, value in document.items() if key != "digest"}
    yield lambda document: {**document, "digest": "0" * 64}
    yield lambda document: {**document, "files": {}}
    yield lambda document: {**document, "rows": {**document["rows"], "2": "ten"}}
    yield lambda document: [document]
    yield lambda document: None


@pytest.mark.parametrize("edit", list(edits()))
def test_an_edit_is_rejected(path, edit):
    path.write_text(json.dumps(edit(read_document(path))))
    with pytest.raises(InputError) as caught:
        read_document(path)
    assert str(caught.value).startswith(f"{path}: ") and "\n" not in str(caught.value)


def test_a_damaged_byte_or_a_cut_is_rejected(path):
    content = path.read_bytes()
    for place in range(0, len(content) - 2, 7):  # the last bytes are a brace and a line end
        path.write_bytes(content[:place])
        assert fault_in_document(path)
        path.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        assert fault_in_document(path) or read_document(path) == json.loads(content)


def test_a_sibling_file_belongs_to_the_document(path):
    path.with_name("rows.npy").write_bytes(b"Rows")
    assert fault_in_document(path).startswith(f"{path.with_name('rows.npy')}: is not what was saved")
    path.with_name("rows.npy").unlink()
    assert fault_in_document(path) == f"{path.with_name('rows.npy')}: is missing"


def test_a_sibling_elsewhere_is_rejected(tmp_path):
    (tmp_path / "secret").write_text("x")
    (tmp_path / "run").mkdir()
    content = {"a": 1, "files": {"../secret": sha256(tmp_path / "secret")}}
    (tmp_path / "run" / "a.json").write_text(json.dumps({**content, "digest": digest_of(content)}))
    with pytest.raises(InputError, match="names the file"):
        read_document(tmp_path / "run" / "a.json")
