"""Programs of a small language from their code for a stack machine. A candidate is compiled and its code compared.

    a = b + 3 ; if a < c then c = a * a end      push b  push 3  add  store a  load a ...

The compiler has one result for each program, so equal code means an equal program up to needless brackets.
"""

import random
from collections.abc import Iterator

from niwaki.data.problems._problem import Problem

NAMES, DIGITS = tuple("abcdef"), tuple("0123456789")
LEVELS = (("plus", "dash"), ("star", "slash"))  # operators from the weakest on
CODES = {"plus": "add", "dash": "sub", "star": "mul", "slash": "div", "below": "less", "same": "equal"}
COMPARISONS = ("below", "same")
MAX_DEPTH = 40
Tree = tuple["str | Tree", ...]  # ("name",) or (operator, left, right)


class Decompilation(Problem):
    def draw(self, random_numbers: random.Random) -> tuple[str, str] | None:
        source = list(program(random_numbers, random_numbers.randint(1, 3)))
        return " ".join(compiled(source)), " ".join(source)

    def check(self, question: list[str], candidate: list[str]) -> bool:
        return compiled(candidate) == question


def program(draw: random.Random, statements: int, nested: bool = False) -> Iterator[str]:
    for number in range(statements):
        if number:
            yield "then"
        if not nested and draw.random() < 0.25:
            yield from ("if", *expression(draw, 1, 0), draw.choice(COMPARISONS), *expression(draw, 1, 0), "do")
            yield from program(draw, draw.randint(1, 2), nested=True)
            yield "end"
        else:
            yield from (draw.choice(NAMES), "is", *expression(draw, draw.randint(0, 3), 0))


def expression(draw: random.Random, operators: int, level: int) -> list[str]:
    """Tokens of an expression that may stand where operators of `level` and stronger ones may."""
    if not operators:
        return [draw.choice((*NAMES, *DIGITS))]
    own, left = draw.randrange(2), draw.randrange(operators)
    inner = [
        *expression(draw, left, own),
        draw.choice(LEVELS[own]),
        *expression(draw, operators - 1 - left, own + 1),
    ]
    return inner if own >= level else ["open", *inner, "close"]


def compiled(tokens: list[str]) -> list[str]:
    """The code of a program. Raises ValueError for what is no program."""
    code, place = _block(tokens, 0, 0)
    if place != len(tokens):
        raise ValueError("tokens behind the end of the program")
    return code


def _block(tokens: list[str], place: int, depth: int) -> tuple[list[str], int]:
    code, place = _statement(tokens, place, depth)
    while place < len(tokens) and tokens[place] == "then":
        more, place = _statement(tokens, place + 1, depth)
        code += more
    return code, place


def _statement(tokens: list[str], place: int, depth: int) -> tuple[list[str], int]:
    first = _at(tokens, place)
    if depth > MAX_DEPTH:
        raise ValueError("nested too deep")
    if first == "if":
        left, place = _expression(tokens, place + 1, 0, depth)
        comparison = _at(tokens, place)
        if comparison not in COMPARISONS:
            raise ValueError(f"'{comparison}' compares nothing")
        right, place = _expression(tokens, place + 1, 0, depth)
        body, place = _block(tokens, _after(tokens, place, "do"), depth + 1)
        return [*left, *right, CODES[comparison], "skip", *str(len(body)), *body], _after(tokens, place, "end")
    if first not in NAMES:
        raise ValueError(f"'{first}' begins no statement")
    value, place = _expression(tokens, _after(tokens, place + 1, "is"), 0, depth)
    return [*value, "store", first], place


def _expression(tokens: list[str], place: int, level: int, depth: int) -> tuple[list[str], int]:
    if depth > MAX_DEPTH:
        raise ValueError("nested too deep")
    if level == len(LEVELS):
        return _atom(tokens, place, depth)
    code, place = _expression(tokens, place, level + 1, depth)
    while place < len(tokens) and tokens[place] in LEVELS[level]:
        operator = tokens[place]
        right, place = _expression(tokens, place + 1, level + 1, depth)
        code = [*code, *right, CODES[operator]]
    return code, place


def _atom(tokens: list[str], place: int, depth: int) -> tuple[list[str], int]:
    token = _at(tokens, place)
    if token == "open":
        code, place = _expression(tokens, place + 1, 0, depth + 1)
        return code, _after(tokens, place, "close")
    if token in NAMES:
        return ["load", token], place + 1
    if token in DIGITS:
        return ["push", token], place + 1
    raise ValueError(f"'{token}' is no value")


def _at(tokens: list[str], place: int) -> str:
    if place >= len(tokens):
        raise ValueError("a program ends too early")
    return tokens[place]


def _after(tokens: list[str], place: int, wanted: str) -> int:
    if _at(tokens, place) != wanted:
        raise ValueError(f"'{tokens[place]}' where '{wanted}' is needed")
    return place + 1
