"""Folders that compress and distill write."""

import pytest

from niwaki.api.output_folder import SUMMARY, free_target, run_folder
from niwaki.core.errors import InputError, UsageError


def test_only_new_empty_or_compressed_folders_are_accepted(tmp_path):
    for name in ("empty", "compressed", "other"):
        (tmp_path / name).mkdir()
    (tmp_path / "compressed" / SUMMARY).write_text("{}")
    (tmp_path / "other" / "notes.txt").write_text("mine")
    for name in ("new", "empty", "compressed"):
        assert free_target(tmp_path / name) == tmp_path / name
    with pytest.raises(InputError, match="exists already"):
        free_target(tmp_path / "other")


@pytest.mark.parametrize("out", ["", "  ", None, 3])
def test_paths_of_other_types_are_rejected(out):
    with pytest.raises(UsageError, match="must be the path of a folder"):
        free_target(out)


def test_rejected_input_leaves_no_new_run_folder(tmp_path):
    with pytest.raises(InputError), run_folder(tmp_path / "small", "compress") as folder:
        folder.mkdir(parents=True)
        (folder / "plan.json").write_text("{}")
        raise InputError("rows: missing")
    assert not (tmp_path / "runs").exists()


def test_earlier_run_folders_stay_after_rejected_input(tmp_path):
    earlier = tmp_path / "runs" / "compress-small"
    earlier.mkdir(parents=True)
    with pytest.raises(InputError), run_folder(tmp_path / "small", "compress") as folder:
        raise InputError("rows: missing")
    assert folder == earlier and earlier.is_dir()
