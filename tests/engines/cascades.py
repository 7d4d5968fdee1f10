"""Assertions shared by the tests of cascades."""

import pytest

import tiny
from engines.kinds import saved
from niwaki import api
from niwaki.core.errors import InputError
from niwaki.core.files import commit_folder, write_json
from niwaki.engines.cascade import CASCADE


def assert_rejected(folder, line):
    with pytest.raises(InputError) as caught:
        api.load(folder)
    assert line in str(caught.value) and "\n" not in str(caught.value)


def saved_cascade(folder):
    """A cascade of two tiny classifiers, of which the first answers about half of the texts."""
    with commit_folder(folder) as inner:
        for number, family in enumerate(("averaging", "bert")):
            saved(tiny.model(family, seed=number, layers=1), inner / f"model-{number}")
        steps = [{"folder": "model-0", "threshold": 0.6}, {"folder": "model-1"}]
        write_json(inner / CASCADE, {"version": 1, "steps": steps})
    return folder
