"""Links that lead out of a folder are rejected."""

import os

import pytest

from niwaki.core.errors import InputError
from niwaki.core.path_safety import file_inside, folder_inside, reject_hard_link


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "config.json").write_text("{}")
    (tmp_path / "secret").write_text("x")
    return tmp_path / "model"


def test_plain_and_missing_files_are_accepted(folder):
    assert file_inside(folder, "config.json") == folder / "config.json"
    assert file_inside(folder, "none.json") == folder / "none.json"


def test_link_to_a_file_of_the_same_folder_is_accepted(folder):
    (folder / "link").symlink_to("config.json")
    assert file_inside(folder, "link") == folder / "link"


@pytest.mark.parametrize("target", ["../secret", "..", "/etc/passwd"])
def test_link_out_of_the_folder_is_rejected(folder, target):
    (folder / "link").symlink_to(target)
    with pytest.raises(InputError, match="leads out of its folder"):
        file_inside(folder, "link")


def test_link_to_itself_and_folders_are_rejected(folder):
    (folder / "loop").symlink_to("loop")
    (folder / "inner").mkdir()
    with pytest.raises(InputError, match=r"leads nowhere|not a plain file"):
        file_inside(folder, "loop")
    with pytest.raises(InputError, match="is not a plain file"):
        file_inside(folder, "inner")


@pytest.mark.parametrize(("name", "accepted"), [("models--a--b", True), ("datasets--a--b", True), ("other", False)])
def test_snapshot_of_the_hub_cache_may_link_to_its_blobs(tmp_path, name, accepted):
    snapshot = tmp_path / name / "snapshots" / "1234"
    snapshot.mkdir(parents=True)
    (tmp_path / name / "blobs").mkdir()
    (tmp_path / name / "blobs" / "ab").write_text("{}")
    (snapshot / "config.json").symlink_to("../../blobs/ab")
    if accepted:
        assert file_inside(snapshot, "config.json").read_text() == "{}"
    else:
        with pytest.raises(InputError, match="leads out"):
            file_inside(snapshot, "config.json")


def test_hard_link_is_rejected(folder):
    assert reject_hard_link(folder / "config.json") == folder / "config.json"
    os.link(folder / "config.json", folder / "again.json")
    with pytest.raises(InputError, match="is a hard link"):
        reject_hard_link(folder / "config.json")


@pytest.mark.parametrize("place", ["..", "../other", "/etc", "a/../../x"])
def test_folder_outside_the_run_is_rejected(folder, place):
    with pytest.raises(InputError, match="leads out of it"):
        folder_inside(folder, place)
    assert folder_inside(folder, "stages/a") == folder / "stages" / "a"
