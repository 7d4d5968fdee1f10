"""The train block: settings that are left to the rows."""

import pytest
from pydantic import ValidationError

from niwaki.train.settings import TrainSettings


def test_the_word_auto_stands_for_a_block():
    assert TrainSettings.model_validate("auto") == TrainSettings(auto=True)
    with pytest.raises(ValidationError):
        TrainSettings.model_validate("automatic")


def test_settings_left_to_the_rows_are_not_written():
    """Otherwise a recipe that is read again would fix them at their defaults."""
    written = TrainSettings(auto=True, lr=1e-3).model_dump()
    assert written["lr"] == 1e-3 and not {"epochs", "batch"} & set(written)
    again = TrainSettings.model_validate(written)
    assert again.model_fields_set >= {"lr"} and not again.model_fields_set & {"epochs", "batch"}
    assert {"epochs", "lr", "batch"} <= set(TrainSettings().model_dump())
