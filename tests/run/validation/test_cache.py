"""The folder of the teacher cache."""

import shutil

import pytest

from niwaki.core.errors import InputError
from niwaki.run import runner
from niwaki.run.plan import make_plan
from niwaki.run.validation.cache import check_cache_folder
from niwaki.train.teacher_cache import LOCK
from run.teaching import learner


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


def test_unwritable_cache_folder_is_rejected(recipe, tmp_path):
    (tmp_path / "file").write_text("")
    for place in ("file", "file/below"):
        with pytest.raises(InputError, match=r"cache\.folder: .*file: is a file, not a folder"):
            make_plan(recipe(learner(), cache={"folder": str(tmp_path / place)}), "x")
    with pytest.raises(InputError, match=r"cache\.gigabytes"):
        recipe(learner(), cache={"gigabytes": 1e300})
    default_cache = tmp_path / "runs" / ".teachers"
    (default_cache / ".lock").mkdir(parents=True)
    with pytest.raises(InputError, match=r"cache\.folder: .*\.lock: is a folder, where a file must be"):
        runner.execute(recipe(learner()), "x", tmp_path / "runs" / "one")
    shutil.rmtree(default_cache)
    default_cache.write_text("")
    with pytest.raises(InputError, match=r"cache\.folder: .*teachers: is a file, not a folder"):
        runner.execute(recipe(learner()), "x", tmp_path / "runs" / "one")
    assert not list((tmp_path / "runs" / "one").glob("stages/*"))
