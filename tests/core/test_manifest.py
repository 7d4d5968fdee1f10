"""A committed folder is trusted only where its files are exactly those of its MANIFEST."""

import json
from pathlib import Path

import pytest

from niwaki.core import files
from niwaki.core.manifest import fault_in_files, listed_files

DAMAGE = {
    "flip": lambda path: path.write_bytes(b"\x01" + path.read_bytes()[1:]),
    "cut": lambda path: path.write_bytes(path.read_bytes()[:-1]),
    "zeroed": lambda path: path.write_bytes(bytes(path.stat().st_size)),
    "emptied": lambda path: path.write_bytes(b""),
    "missing": Path.unlink,
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with files.commit_folder(tmp_path / "a") as folder_with_files:
        (folder_with_files / "model").mkdir()
        (folder_with_files / "model" / "weights").write_bytes(b"w" * 3000)
        (folder_with_files / "result.json").write_text('{"score": 0.98}')
    return tmp_path / "a"


@pytest.mark.parametrize("kind", DAMAGE)
@pytest.mark.parametrize("name", ["model/weights", "result.json"])
def test_damage_is_named(folder, name, kind):
    DAMAGE[kind](folder / name)
    assert fault_in_files(folder).startswith(f"{folder / name}: ")


def test_a_sound_folder_with_documentation_has_no_fault(folder):
    for name in ("model/README.md", "model/energy-label.svg", "LICENSE", ".gitattributes"):
        (folder / name).write_text("came later")
    assert fault_in_files(folder) is None and fault_in_files(folder, "model") is None


@pytest.mark.parametrize("name", ["model/native.json", "train.jsonl", "model/vocab.txt", "model/deeper/blueprint.json"])
def test_a_file_that_loaders_may_read_and_was_added_is_a_fault(folder, name):
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text("{}")
    assert f"{folder / name}: was added" in fault_in_files(folder)
    assert fault_in_files(folder, unlisted=False) is None


def test_only_the_subfolder_is_compared_where_one_is_given(folder):
    (folder / "result.json").write_text("{}")
    assert fault_in_files(folder, "model") is None and fault_in_files(folder, "other") is None


def test_large_files_can_be_compared_by_size_alone(folder):
    DAMAGE["zeroed"](folder / "model" / "weights")
    assert fault_in_files(folder, hash_up_to=2999) is None
    assert "weights: is not what was saved" in fault_in_files(folder, hash_up_to=3000)
    DAMAGE["cut"](folder / "model" / "weights")
    assert "weights: is not what was saved" in fault_in_files(folder, hash_up_to=10)


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "{}", '{"files": {}}', '{"files": {"x": 3}}', '{"files": {"x": {"bytes": 1}}}']
)
def test_an_empty_or_damaged_manifest_is_a_fault(folder, text):
    (folder / files.MANIFEST).write_text(text)
    assert fault_in_files(folder).startswith(f"{folder / files.MANIFEST}: ")


@pytest.mark.parametrize("name", ["../outside", "/etc/passwd", "model/../../outside", "a\0b", ""])
def test_a_manifest_that_leads_out_is_damaged(folder, name):
    (folder.parent / "outside").write_text("secret")
    entries = {**listed_files(folder), name: {"bytes": 6, "sha256": files.sha256(folder.parent / "outside")}}
    (folder / files.MANIFEST).write_text(json.dumps({"files": entries}))
    assert fault_in_files(folder) == f"{folder / files.MANIFEST}: is damaged"


def test_a_link_that_leads_out_is_a_fault(folder):
    (folder / "result.json").rename(folder.parent / "result.json")
    (folder / "result.json").symlink_to(folder.parent / "result.json")
    assert "leads out of its folder" in fault_in_files(folder)
