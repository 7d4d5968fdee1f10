"""Polynomials with whole coefficients as products of irreducible ones. Multiplied out and compared exactly.

A polynomial is its coefficients from the highest power on, each with its sign: `plus 1 minus 1 0 plus 2 5` is x² − 10x + 25, and factors have `times` between them.
"""

import random
from math import gcd, isqrt

from niwaki.data.problems._problem import Problem

Polynomial = list[int]  # from the highest power on
MAX_DIGITS = 9


class Factoring(Problem):
    def draw(self, random_numbers: random.Random) -> tuple[str, str] | None:
        factors = [factor(random_numbers) for _ in range(random_numbers.randint(2, 4))]
        if any(not is_irreducible(one) for one in factors):
            return None
        whole = [1]
        for one in sorted(factors, key=lambda one: (len(one), one)):
            whole = product(whole, one)
        answer = " times ".join(written(one) for one in sorted(factors, key=lambda one: (len(one), one)))
        return written(whole), answer

    def check(self, question: list[str], candidate: list[str]) -> bool:
        whole, factors = [1], [read(part) for part in split(candidate)]
        for one in factors:
            whole = product(whole, one)
        return whole == read(question) and all(map(is_irreducible, factors))


def factor(draw: random.Random) -> Polynomial:
    leading = draw.choice([1, 1, 1, 2, 3])
    return [leading, *(draw.randint(-9, 9) for _ in range(draw.choice([1, 1, 1, 2])))]


def is_irreducible(polynomial: Polynomial) -> bool:
    """Of degree 1 or 2, over the whole numbers: no common divisor, a positive first coefficient, no rational root. No question has factors of a higher
    degree."""
    if len(polynomial) not in (2, 3) or gcd(*polynomial) != 1 or polynomial[0] <= 0:
        return False
    if len(polynomial) == 2:
        return True
    a, b, c = polynomial
    discriminant = b * b - 4 * a * c
    return discriminant < 0 or isqrt(discriminant) ** 2 != discriminant


def product(first: Polynomial, second: Polynomial) -> Polynomial:
    found = [0] * (len(first) + len(second) - 1)
    for place, a in enumerate(first):
        for other, b in enumerate(second):
            found[place + other] += a * b
    return found


def written(polynomial: Polynomial) -> str:
    return " ".join(token for value in polynomial for token in ("minus" if value < 0 else "plus", *str(abs(value))))


def read(tokens: list[str]) -> Polynomial:
    """Raises ValueError for what is no polynomial."""
    found: Polynomial = []
    sign, digits = 0, ""
    for token in [*tokens, "plus"]:
        if token in ("plus", "minus"):
            if sign and not 0 < len(digits) <= MAX_DIGITS:
                raise ValueError("a coefficient has too few or too many digits")
            found += [sign * int(digits)] if sign else []
            sign, digits = (1 if token == "plus" else -1), ""
        elif sign and len(token) == 1 and token in "0123456789":
            digits += token
        else:
            raise ValueError(f"'{token}' is no token of a polynomial")
    if not found:
        raise ValueError("a polynomial has no coefficients")
    return found


def split(tokens: list[str]) -> list[list[str]]:
    parts: list[list[str]] = [[]]
    for token in tokens:
        if token == "times":
            parts.append([])
        else:
            parts[-1].append(token)
    return parts
