"""Assertions shared by the tests of cascades."""

import pytest

from niwaki import api
from niwaki.core.errors import InputError


def assert_rejected(folder, line):
    with pytest.raises(InputError) as caught:
        api.load(folder)
    assert line in str(caught.value) and "\n" not in str(caught.value)
