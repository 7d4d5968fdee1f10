"""Expressions of one variable as trees: read from prefix notation, differentiated, simplified, evaluated.

mul x cos x        x · cos x
sub pow x pos 2 pos 1 2      x² − 12: numbers begin with a sign, `pos` or `neg`, and their digits follow
"""

import cmath
from collections.abc import Callable, Sequence
from typing import Protocol

Tree = tuple["str | int | Tree", ...]  # ("x",), ("int", 5), ("sin", tree), ("add", tree, tree)
UNARY = ("exp", "ln", "sin", "cos", "tan", "sqrt", "atan")
BINARY = ("add", "sub", "mul", "div", "pow")
X: Tree = ("x",)
SIGNS = {"pos": 1, "neg": -1}
MAX_DIGITS, MAX_DEPTH = 6, 60
SMALLEST, LARGEST = 1e-12, 1e6  # of a value that is not 0: else a term could be too small to be seen next to others


def number(value: int) -> Tree:
    return ("int", value)


def parse(tokens: Sequence[str]) -> Tree:
    """Raises ValueError for what is no expression."""
    tree, rest = _read(tokens, 0, 0)
    if rest != len(tokens):
        raise ValueError("tokens behind the end of the expression")
    return tree


def _read(tokens: Sequence[str], place: int, depth: int) -> tuple[Tree, int]:
    if place >= len(tokens) or depth > MAX_DEPTH:
        raise ValueError("an expression ends too early, or is nested too deep")
    token = tokens[place]
    if token == "x":
        return X, place + 1
    if token in SIGNS:
        return _read_number(tokens, place)
    if token in UNARY:
        inner, place = _read(tokens, place + 1, depth + 1)
        return (token, inner), place
    if token in BINARY:
        left, place = _read(tokens, place + 1, depth + 1)
        right, place = _read(tokens, place, depth + 1)
        return (token, left, right), place
    raise ValueError(f"'{token}' is no token of an expression")


def _read_number(tokens: Sequence[str], place: int) -> tuple[Tree, int]:
    start = end = place + 1
    while end < len(tokens) and len(tokens[end]) == 1 and tokens[end] in "0123456789":
        end += 1
    if not 0 < end - start <= MAX_DIGITS:
        raise ValueError("a number has too few or too many digits")
    return number(SIGNS[tokens[place]] * int("".join(tokens[start:end]))), end


def written(tree: Tree) -> list[str]:
    """The tokens of an expression."""
    name = tree[0]
    if name == "x":
        return ["x"]
    if name == "int":
        value = tree[1]
        assert isinstance(value, int)
        return ["neg" if value < 0 else "pos", *str(abs(value))]
    return [str(name), *(token for part in arguments(tree) for token in written(part))]


def arguments(tree: Tree) -> list[Tree]:
    return [part for part in tree[1:] if isinstance(part, tuple)]


def value_of(tree: Tree) -> int | None:
    """Of a whole number."""
    value = tree[1] if tree[0] == "int" else None
    return value if isinstance(value, int) else None


def simplified(tree: Tree) -> Tree:
    """Whole numbers are added and multiplied, and what adds 0 or multiplies by 1 is left out."""
    parts = [simplified(part) for part in arguments(tree)]
    if not parts:
        return tree
    if len(parts) == 1:
        return (tree[0], *parts)
    return _combined(str(tree[0]), *parts)


def _combined(name: str, left: Tree, right: Tree) -> Tree:
    a, b = value_of(left), value_of(right)
    if a is not None and b is not None and name in ("add", "sub", "mul"):
        return number({"add": a + b, "sub": a - b, "mul": a * b}[name])
    if name == "mul":
        return _product(left, right, a, b)
    if (name in ("add", "sub") and b == 0) or (name in ("div", "pow") and b == 1):
        return left
    if name == "add":
        return right if a == 0 else ("mul", number(2), left) if left == right else (name, left, right)
    if name == "sub" and left == right:
        return number(0)
    if name == "div" and (a == 0 or left == right):
        return number(0 if a == 0 else 1)
    return number(1) if name == "pow" and b == 0 else (name, left, right)


def _product(left: Tree, right: Tree, a: int | None, b: int | None) -> Tree:
    if a == 0 or b == 0:
        return number(0)
    if a == 1 or b == 1:
        return right if a == 1 else left
    if b is not None:  # numbers come first
        left, right, a = right, left, b
    inner = value_of(arguments(right)[0]) if right[0] == "mul" else None
    if a is not None and inner is not None:
        return ("mul", number(a * inner), arguments(right)[1])
    return ("pow", left, number(2)) if left == right else ("mul", left, right)


def derivative(tree: Tree) -> Tree:
    """By x, simplified."""
    return simplified(_derivative(tree))


def _derivative(tree: Tree) -> Tree:
    name, parts = tree[0], arguments(tree)
    if not parts:
        return number(int(name == "x"))
    u = parts[0]
    du = _derivative(u)
    if len(parts) == 1:
        return ("mul", du, INNER[str(name)](u))
    v = parts[1]
    dv = _derivative(v)
    if name in ("add", "sub"):
        return (name, du, dv)
    if name == "mul":
        return ("add", ("mul", du, v), ("mul", u, dv))
    if name == "div":
        return ("div", ("sub", ("mul", du, v), ("mul", u, dv)), ("pow", v, number(2)))
    exponent = value_of(v)
    if exponent is not None:
        return ("mul", ("mul", number(exponent), ("pow", u, number(exponent - 1))), du)
    return ("mul", tree, ("add", ("mul", dv, ("ln", u)), ("div", ("mul", v, du), u)))


INNER: dict[str, Callable[[Tree], Tree]] = {
    "exp": lambda u: ("exp", u),
    "ln": lambda u: ("div", number(1), u),
    "sin": lambda u: ("cos", u),
    "cos": lambda u: ("mul", number(-1), ("sin", u)),
    "tan": lambda u: ("add", number(1), ("pow", ("tan", u), number(2))),
    "sqrt": lambda u: ("div", number(1), ("mul", number(2), ("sqrt", u))),
    "atan": lambda u: ("div", number(1), ("add", number(1), ("pow", u, number(2)))),
}  # derivatives of the functions, without that of what is inside


class Functions(Protocol):
    """Of complex numbers: `cmath`, or mpmath for more digits."""

    def exp(self, z: complex, /) -> complex: ...
    def log(self, z: complex, /) -> complex: ...
    def sin(self, z: complex, /) -> complex: ...
    def cos(self, z: complex, /) -> complex: ...
    def tan(self, z: complex, /) -> complex: ...
    def sqrt(self, z: complex, /) -> complex: ...
    def atan(self, z: complex, /) -> complex: ...


def evaluated(tree: Tree, x: complex, functions: Functions = cmath) -> complex:
    """ArithmeticError or ValueError where there is no value of a moderate size."""
    name, parts = tree[0], arguments(tree)
    if not parts:
        value = value_of(tree)
        return x if value is None else x * 0 + value
    values = [evaluated(part, x, functions) for part in parts]
    if len(values) == 1:
        found = getattr(functions, {"ln": "log"}.get(str(name), str(name)))(values[0])
    else:
        first, second = values
        found = _operated(str(name), first, second, functions)
    if not (SMALLEST < abs(found) < LARGEST or found == 0):
        raise ArithmeticError("a value is too large, too small, or none")
    return complex(found) if functions is cmath else found


def _operated(name: str, a: complex, b: complex, functions: Functions) -> complex:
    if name == "add":
        return a + b
    if name == "sub":
        return a - b
    if name == "mul":
        return a * b
    if name == "div":
        return a / b
    exponent = b * functions.log(a)
    if abs(exponent) > 100:
        raise ArithmeticError("a power is too large")
    return functions.exp(exponent)
