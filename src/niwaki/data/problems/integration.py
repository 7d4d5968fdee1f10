"""Antiderivatives (Lample and Charton 2020): a random function is differentiated, and the derivative is the question.

A candidate is right if its derivative equals the question at random complex points, to 20 of 30 digits. Expressions of these functions that agree
there are equal, but for a chance that is far below that of an error of the machine.
"""

import random
from typing import cast

from niwaki.core.extras import explain_missing
from niwaki.core.seeds import derive
from niwaki.data.problems._expressions import (
    UNARY,
    Functions,
    Tree,
    X,
    arguments,
    derivative,
    evaluated,
    number,
    parse,
    simplified,
    written,
)
from niwaki.data.problems._problem import Problem

LONGEST_QUESTION, LONGEST_ANSWER = 60, 30
POINTS, NEEDED = 16, 6  # points that are tried, and those at which both sides must have a value
DIGITS, AGREED = 30, 1e-20


class Integration(Problem):
    def draw(self, random_numbers: random.Random) -> tuple[str, str] | None:
        function = without_constant(simplified(expression(random_numbers, random_numbers.randint(1, 5))))
        question = derivative(function)
        query, answer = written(question), written(function)
        if (
            not has_x(question)
            or len(query) > LONGEST_QUESTION
            or len(answer) > LONGEST_ANSWER
            or not is_defined(question)
        ):
            return None
        return " ".join(query), " ".join(answer)

    def check(self, question: list[str], candidate: list[str]) -> bool:
        function = parse(candidate)
        return is_defined(function) and equal(derivative(function), parse(question))


def expression(draw: random.Random, operators: int) -> Tree:
    """A random tree with so many operators."""
    if not operators:
        return X if draw.random() < 0.7 else number(draw.choice([-3, -2, -1, 1, 2, 3, 4, 5, 7, 10]))
    if draw.random() < 0.4:
        return (draw.choice(UNARY), expression(draw, operators - 1))
    name, left = draw.choice(("add", "add", "sub", "mul", "mul", "mul", "div", "pow")), draw.randrange(operators)
    first = expression(draw, left)
    return (name, first, number(draw.randint(2, 4)) if name == "pow" else expression(draw, operators - 1 - left))


def without_constant(tree: Tree) -> Tree:
    """The same up to a constant that is added, which no derivative shows."""
    if tree[0] in ("add", "sub"):
        left, right = cast(tuple[Tree, Tree], tree[1:])
        if not has_x(right):
            return without_constant(left)
        if tree[0] == "add" and not has_x(left):
            return without_constant(right)
    return tree


def has_x(tree: Tree) -> bool:
    return tree == X or any(map(has_x, arguments(tree)))


def is_defined(tree: Tree) -> bool:
    """Whether it has a value at most points; `ln sub x x` has none."""
    found = 0
    for point in sample():
        try:
            evaluated(tree, point)
            found += 1
        except (ArithmeticError, ValueError):
            continue
    return 2 * found > POINTS


def sample() -> list[complex]:
    """The same points at every call."""
    draw = random.Random(derive(0, "points"))
    return [complex(draw.uniform(0.2, 2.5), draw.uniform(-1.2, 1.2)) for _ in range(POINTS)]


@explain_missing()
def equal(first: Tree, second: Tree) -> bool:
    """At points that follow from nothing but their number. Plain floats reject most that differ."""
    import mpmath

    points = sample()
    if not _agree(first, second, points[:4], 1e-6, 1):
        return False
    with mpmath.workdps(DIGITS):
        return _agree(first, second, [mpmath.mpc(point) for point in points], AGREED, NEEDED, cast(Functions, mpmath))


def _agree(
    first: Tree, second: Tree, points: list[complex], tolerance: float, needed: int, functions: Functions | None = None
) -> bool:
    """Whether both have equal values at the points where both have one, and there are enough of these."""
    given, seen = [functions] if functions else [], 0
    for point in points:
        try:
            a, b = evaluated(first, point, *given), evaluated(second, point, *given)
        except (ArithmeticError, ValueError):
            continue
        if abs(a - b) > tolerance * (1 + abs(b)):
            return False
        seen += 1
    return seen >= needed
