"""Factors of polynomials."""

import pytest

from niwaki.data.problems._problem import problem_of

QUESTION = "plus 1 plus 8 minus 9"  # x² + 8x − 9 = (x − 1)(x + 9)


@pytest.mark.parametrize(
    ("candidate", "right"),
    [
        ("plus 1 minus 1 times plus 1 plus 9", True),
        ("plus 1 plus 9 times plus 1 minus 1", True),
        ("plus 1 plus 8 minus 9", False),  # not factored
        ("plus 1 plus 1 times plus 1 plus 9", False),
        ("minus 1 plus 1 times minus 1 minus 9", False),  # signs belong to no factor
        ("plus 1 minus 1 times plus 1 plus 9 times plus 1", False),
        ("plus 1 minus 1 times", False),
        ("plus 1 minus times plus 1 plus 9", False),
    ],
)
def test_only_the_product_of_irreducible_factors_is_right(candidate, right):
    assert problem_of("factoring").verify(QUESTION, candidate) == right


def test_irreducible_quadratic_factors_stay():
    question = "plus 2 plus 2 plus 2 plus 2"  # 2x³ + 2x² + 2x + 2 has the divisor 2
    verify = problem_of("factoring").verify
    assert not verify(question, "plus 2 plus 2 times plus 1 plus 0 plus 1")
    assert verify("plus 1 plus 1 plus 1 plus 1", "plus 1 plus 1 times plus 1 plus 0 plus 1")
