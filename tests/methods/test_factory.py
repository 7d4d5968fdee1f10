"""Methods from recipe entries."""

import pytest

from niwaki.core.errors import InputError
from niwaki.methods._factory import make_method
from niwaki.methods.distill.logits import Logits


def test_settings_of_the_entry_are_those_of_the_method():
    method = make_method({"use": "logits", "temperature": 3.0}, "stages.0.methods.0")
    assert isinstance(method, Logits) and method.temperature == 3.0


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({}, r"^stages\.0\.methods\.1: needs the key 'use' with the name of a method; there is: .*logits"),
        ({"use": 3}, r"^stages\.0\.methods\.1: needs the key 'use'"),
        ({"use": "logit"}, r"^stages\.0\.methods\.1\.use: .*did you mean 'logits'"),
        ({"use": "logits", "temprature": 2}, r"^stages\.0\.methods\.1\.temprature: .*did you mean 'temperature'"),
        ({"use": "logits", "temperature": "hot"}, r"^stages\.0\.methods\.1\.temperature: "),
    ],
)
def test_faults_name_their_place_in_the_recipe(values, message):
    with pytest.raises(InputError, match=message):
        make_method(values, "stages.0.methods.1")


def test_the_entry_is_not_changed():
    values = {"use": "logits", "temperature": 3.0}
    make_method(values, "here")
    assert values == {"use": "logits", "temperature": 3.0}
