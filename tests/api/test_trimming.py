"""`niwaki.trim` takes lists of files."""

import pytest

import niwaki
from niwaki.core.errors import UsageError


@pytest.mark.parametrize("given", [{"texts": "a.txt"}, {"texts": ["a.txt"], "targets": "b"}])
def test_single_files_must_be_in_lists(given, tmp_path):
    with pytest.raises(UsageError, match="put a single one into a list"):
        niwaki.trim(tmp_path, **given)
