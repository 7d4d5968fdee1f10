"""Answer types that take one text."""

import pytest

from niwaki.answers._one_text import OneText


def test_a_tab_does_not_part_a_text_in_two():
    assert OneText().from_line("a\tb") == "a\tb" and OneText().check("a\tb") == "a\tb"


@pytest.mark.parametrize("given", [("a", "b"), ["a"], 3, None])
def test_other_inputs_are_rejected(given):
    with pytest.raises(TypeError):
        OneText().check(given)
