"""Opening all heads of a folder; answers are tested in tests/engines/test_heads.py."""

import pytest

import niwaki
from engines.kinds import model_of, saved
from niwaki.api.heads import head_name
from niwaki.core.errors import InputError


def test_names_come_from_folders_and_runs(tmp_path):
    assert head_name("runs/My Topics (2)") == "my-topics-2"
    assert head_name("runs/x/stages/tuned-0a1b/model") == "tuned-0a1b"
    assert len(head_name("a" * 100)) == 64


def test_folders_without_heads_say_how_to_add_one(tmp_path):
    with pytest.raises(InputError, match="niwaki add"):
        niwaki.load_heads(saved(model_of("label"), tmp_path / "alone"))
