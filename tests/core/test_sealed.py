"""A finished model that is not what was saved is refused in one line; one that nobody sealed is taken."""

import json

import pytest

from niwaki.core import files
from niwaki.core.errors import Refused
from niwaki.core.sealed import refuse_changed


@pytest.fixture
def model(tmp_path):
    with files.committed(tmp_path / "stage") as folder:
        (folder / "model").mkdir()
        (folder / "model" / "weights").write_bytes(bytes(1000))
        (folder / "model" / "config.json").write_text("{}")
        (folder / "result.json").write_text("{}")
    return tmp_path / "stage" / "model"


def test_what_is_as_it_was_saved_is_taken(model, monkeypatch):
    refuse_changed(model)
    (model / "README.md").write_text("a card that came later")
    (model.parent / "result.json").write_text("not the model's")
    refuse_changed(model)
    monkeypatch.chdir(model)
    refuse_changed(files.Path("."))


@pytest.mark.parametrize("spoil", ["flip", "cut", "missing"])
def test_what_is_not_is_refused_by_name(model, spoil, monkeypatch):
    path = model / "weights"
    content = path.read_bytes()
    path.unlink()
    if spoil != "missing":
        path.write_bytes(content[:500] + b"\x01" + content[501:] if spoil == "flip" else content[:500])
    with pytest.raises(Refused, match=rf"{path}: is (missing|not what was saved).*run the recipe again") as caught:
        refuse_changed(model)
    assert "\n" not in str(caught.value)
    monkeypatch.chdir(model)
    with pytest.raises(Refused):
        refuse_changed(files.Path("."))


def test_an_export_has_a_manifest_of_its_own(tmp_path):
    with files.committed(tmp_path / "export") as folder:
        (folder / "weights").write_bytes(bytes(1000))
    refuse_changed(tmp_path / "export")
    (tmp_path / "export" / "weights").write_bytes(bytes(999) + b"\x01")
    with pytest.raises(Refused, match=r"weights: is not what was saved .*; export it again"):
        refuse_changed(tmp_path / "export")
    (tmp_path / "export" / "MANIFEST").write_text("{}")
    with pytest.raises(Refused, match="MANIFEST: is damaged; export it again"):
        refuse_changed(tmp_path / "export")
    (tmp_path / "export" / "MANIFEST").unlink()
    refuse_changed(tmp_path / "export")


@pytest.mark.parametrize("text", ["{}", "[]", '{"files": 3}', "{", '{"files": {"a": 1, "a": 2}}'])
def test_a_manifest_that_is_none_is_refused(model, text):
    (model.parent / "MANIFEST").write_text(text)
    with pytest.raises(Refused, match="MANIFEST: "):
        refuse_changed(model)


def test_a_manifest_of_a_stranger_leads_nowhere(model):
    names = ("model/../../outside", "model/sub/x", "/etc/passwd", "../outside")
    (model.parent / "MANIFEST").write_text(json.dumps({"files": {name: {"bytes": 1, "sha256": ""} for name in names}}))
    refuse_changed(model)


def test_a_folder_without_a_manifest_is_taken(model):
    (model.parent / "MANIFEST").unlink()
    (model / "weights").write_bytes(b"other")
    refuse_changed(model)


def test_a_file_that_no_memory_holds_is_not_read_through(model, monkeypatch):
    monkeypatch.setattr(files, "free_memory", lambda: 100)
    with pytest.raises(Refused, match="of memory"):
        refuse_changed(model)
