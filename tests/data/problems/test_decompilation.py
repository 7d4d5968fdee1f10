"""Programs from code."""

import pytest

from niwaki.data.problems._problem import problem_of
from niwaki.data.problems.decompilation import compiled

SOURCE = "if a below 3 do b is open a plus 1 close star b end then c is b"


def test_code_by_hand():
    assert " ".join(compiled(SOURCE.split())) == (
        "load a push 3 less skip 1 0 load a push 1 add load b mul store b load b store c"
    )


@pytest.mark.parametrize(
    ("candidate", "right"),
    [
        (SOURCE, True),
        ("if a below 3 do b is open open a plus 1 close close star b end then c is b", True),
        ("if a below 3 do b is a plus 1 star b end then c is b", False),
        ("if a below 3 do b is open a plus 1 close star b then c is b end", False),
        ("c is b", False),
        ("if a below 3 do", False),
        ("a is", False),
        ("a is 1 a", False),
        ("x is 1", False),
    ],
)
def test_a_candidate_is_right_if_its_code_is_the_question(candidate, right):
    assert problem_of("decompilation").verify(" ".join(compiled(SOURCE.split())), candidate) == right
