"""`niwaki.search`: what it takes, and what it rejects before any work."""

from pathlib import Path

import pytest

import niwaki
from api.compressions import TEXTS
from niwaki.api.searching import is_recipe
from niwaki.core.errors import InputError


def test_recipes_and_models_are_distinguished(tmp_path):
    assert is_recipe("rotten_tomatoes") and is_recipe("my.toml") and is_recipe(Path("my.toml"))
    assert not is_recipe("my-model") and not is_recipe(None) and not is_recipe(str(tmp_path))


@pytest.mark.parametrize(
    ("data", "settings", "message"),
    [
        (None, {}, "there are no rows to train on"),
        (TEXTS, {"max_bm": 3}, "search.max_bm: unknown key, did you mean 'max_mb'?"),
        (TEXTS, {"keep": -1}, "search.keep"),
        (TEXTS, {"objective": "size"}, "search.objective"),
        (TEXTS, {"engines": ["natve"]}, "did you mean 'native'?"),
        (TEXTS, {"space": {"stages.student.methods.ffn.keep": [0.5]}}, "there is no 'ffn'"),
    ],
)
def test_impossible_calls_are_rejected_and_leave_no_files(bert_folder, tmp_path, data, settings, message):
    with pytest.raises(InputError) as rejected:
        niwaki.search(str(bert_folder), data, out=tmp_path / "out", **settings)
    assert message in str(rejected.value) and not list(tmp_path.iterdir())


def test_sentence_encoders_are_for_compress(encoder_folder, tmp_path):
    with pytest.raises(
        InputError, match="is a sentence encoder, and search needs answers to score; use `niwaki compress`"
    ):
        niwaki.search(str(encoder_folder), TEXTS, out=tmp_path / "out")
