"""Families of models."""

from pathlib import Path

import pytest

import tiny
from niwaki.models.anatomy import anatomy_of
from niwaki.models.family import FAMILIES


def test_every_family_is_tested():
    """Here, or in a file of its own, as `niwaki new family` writes one."""
    folders = [Path(__file__).parent / name for name in ("families", "networks")]
    files = {path.stem.removeprefix("test_") for folder in folders for path in folder.glob("test_*.py")}
    own = files & set(FAMILIES.names())
    assert set(FAMILIES.names()) == set(tiny.FAMILIES) | set(tiny.ALIKE) | own  # ALIKE: test_xlm_roberta.py


def test_unknown_family_is_rejected_with_the_known_ones():
    from types import SimpleNamespace

    from niwaki.core.errors import InputError

    with pytest.raises(InputError, match="'gpt9' has no anatomy; there is: albert, averaging, bart, bert"):
        anatomy_of(SimpleNamespace(config=SimpleNamespace(model_type="gpt9")))
