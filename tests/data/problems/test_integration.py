"""Antiderivatives: which candidates are right."""

import time

import pytest

from niwaki.data.problems._problem import problem_of

VERIFY = problem_of("integration").verify


@pytest.mark.parametrize(
    ("question", "candidate", "right"),
    [
        ("cos x", "sin x", True),
        ("cos x", "add sin x pos 7", True),  # any constant
        ("cos x", "mul pos 2 mul sin div x pos 2 cos div x pos 2", True),  # sin x in another form
        ("cos x", "cos x", False),
        ("div pos 1 x", "ln x", True),
        ("div pos 1 x", "ln mul pos 3 x", True),
        ("mul pos 2 x", "pow x pos 3", False),
        ("add pos 1 pow tan x pos 2", "div sin x cos x", True),
        ("exp x", "add exp x div x pos 9 9 9 9 9 9", False),  # nearly equal, but not to 20 digits
        ("exp x", "add exp x div pow x pos 9 pow pos 9 9 9 9 9 pos 3", False),
        ("exp x", "add exp x mul x exp neg 9 9", False),  # a term of 10⁻⁴³
        ("exp x", "add exp x div x pow pos 9 9 9 9 9 9 pos 2 0", False),
        ("exp x", "exp exp exp exp exp x", False),
        ("exp x", "pow pow pow x x x x", False),
        ("pos 0", "ln sub x x", False),  # nowhere defined
    ],
)
def test_a_candidate_is_right_if_its_derivative_is_the_question(question, candidate, right):
    start = time.process_time()
    assert VERIFY(question, candidate) == right
    assert time.process_time() - start < 2
