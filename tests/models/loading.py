"""Helpers that damage saved models and load them."""

import pytest

from niwaki.core.errors import InputError
from niwaki.core.files import read_json, write_json
from niwaki.models.model import load_folder


def rejected(folder, *words, head=None):
    with pytest.raises(InputError) as caught:
        load_folder(folder, head)
    text = str(caught.value)
    assert "\n" not in text and len(text) < 600
    for word in words:
        assert word in text, text


def change(path, **values):
    write_json(path, {**read_json(path), **values})
