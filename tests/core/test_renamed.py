"""Old names of settings, methods, tasks and recipes."""

import pytest

from niwaki.core.errors import InputError, did_you_mean
from niwaki.core.renamed import RENAMED, new_name
from niwaki.core.settings import Settings, check


def test_the_new_name_depends_on_what_is_known():
    assert new_name("penalty", ["length_penalty", "beam"]) == "length_penalty"
    assert new_name("penalty", ["penalty_weight", "how"]) == "penalty_weight"
    assert new_name("penalty", ["how"]) is None
    assert new_name("beam", ["beam"]) is None


@pytest.mark.parametrize(("old", "new"), [(old, new) for old, names in RENAMED.items() for new in names])
def test_an_old_key_raises_an_error_that_names_the_new_one(old, new):
    fields = {"__annotations__": {new: int}, new: 0, "__module__": __name__}
    kind = type("Renamed", (Settings,), fields)
    with pytest.raises(InputError, match=rf"^data\.{old}: unknown key; it is now called '{new}'$"):
        check(kind, {old: 1}, "data")


def test_a_word_that_was_never_used_is_not_reported_as_renamed():
    assert did_you_mean("epoch", ["epochs", "lr"]) == ", did you mean 'epochs'?"
    assert did_you_mean("colour", ["epochs", "lr"]) == "; there is: epochs, lr"
