"""Models are loaded without bars, and transformers is left as it was."""

import pytest
from transformers.utils import logging

import tiny
from niwaki.models.model import load_folder
from niwaki.models.progress import without_progress_bars


@pytest.fixture
def drawing():
    before = logging.is_progress_bar_enabled()
    logging.enable_progress_bar()
    yield
    (logging.enable_progress_bar if before else logging.disable_progress_bar)()


def test_a_plain_checkpoint_is_loaded_in_silence(drawing, tmp_path, capfd):
    tiny.model("bert").save(tmp_path)
    capfd.readouterr()
    load_folder(tmp_path)
    assert capfd.readouterr().err == "" and logging.is_progress_bar_enabled()


def test_who_draws_none_gets_none_afterwards(drawing):
    logging.disable_progress_bar()
    with without_progress_bars():
        pass
    assert not logging.is_progress_bar_enabled()
