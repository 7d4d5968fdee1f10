"""Expressions: read, written, differentiated and evaluated as sympy does it."""

import cmath
import random

import pytest
import sympy

from niwaki.data.problems._expressions import derivative, evaluated, parse, simplified, written
from niwaki.data.problems.integration import expression

X = sympy.Symbol("x")
NAMES = {"ln": sympy.log, **{name: getattr(sympy, name) for name in ("exp", "sin", "cos", "tan", "sqrt", "atan")}}
OPERATORS = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "pow": lambda a, b: a**b,
}


def by_sympy(tree):
    name, *parts = tree
    if name == "x":
        return X
    if name == "int":
        return sympy.Integer(parts[0])
    inner = [by_sympy(part) for part in parts]
    return (NAMES.get(name) or OPERATORS[name])(*inner)


@pytest.mark.parametrize("seed", range(8))
def test_derivatives_and_values_are_sympys(seed):
    tree = expression(random.Random(seed), 4)
    point = complex(0.7 + seed / 10, 0.3)
    theirs = by_sympy(tree)
    pairs = [(tree, theirs), (simplified(tree), theirs), (derivative(tree), sympy.diff(theirs, X))]
    for own, wanted in pairs:
        try:
            found = evaluated(own, point)
        except (ArithmeticError, ValueError):
            continue
        assert cmath.isclose(found, complex(wanted.subs(X, point).evalf()), rel_tol=1e-8, abs_tol=1e-8)
    assert parse(written(tree)) == tree


def test_numbers_next_to_each_other_stay_apart():
    assert parse(["pow", "pos", "1", "0", "neg", "2"]) == ("pow", ("int", 10), ("int", -2))
    assert written(("pow", ("int", 10), ("int", -2))) == ["pow", "pos", "1", "0", "neg", "2"]


@pytest.mark.parametrize(
    "text", ["", "add x", "x x", "pos", "pos 1 2 3 4 5 6 7", "neg x", "1", "foo x", "sin " * 70 + "x"]
)
def test_what_is_no_expression_is_rejected(text):
    with pytest.raises(ValueError, match=r"expression|number|nested"):
        parse(text.split())
