"""The folder of the teacher cache."""

import pytest

from niwaki.core.errors import InputError
from niwaki.run.validation.cache import check_cache_folder
from niwaki.train.teacher_cache import LOCK


def test_a_folder_that_can_be_created_is_accepted(tmp_path):
    check_cache_folder(tmp_path / "new" / "folder")
    assert not (tmp_path / "new").exists(), "a check writes nothing"


def test_a_file_is_rejected(tmp_path):
    (tmp_path / "file").write_text("")
    for place in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(InputError, match=r"cache\.folder: .*file: is a file, not a folder"):
            check_cache_folder(place)


def test_a_lock_that_is_a_folder_is_rejected(tmp_path):
    (tmp_path / LOCK).mkdir()
    with pytest.raises(InputError, match="is a folder, where a file must be"):
        check_cache_folder(tmp_path)
