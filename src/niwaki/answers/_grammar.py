"""What may be written next, so that all that is written is well-formed.

A grammar is a list of rules. A rule is a choice, and each alternative of it begins with a symbol that no other one begins
with (Greibach 1965), so that the next symbol alone says how it goes on:

    rules[0] = [[["answer"], ["(", 1, ")", "[EOS]"]]]              what is written: answer ( … ), and the end
    rules[1] = [[["state", "city"], ["(", 1, ")"]], [["all"], []]]   a call of either, or all

Numbers stand for rules, texts for symbols. What is left to be written is a stack of them, and that is the state. Every symbol
must be one token, so texts must be split into words; other tokenizers are rejected.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import heapify, heappop, heappush
from pathlib import Path
from typing import TypeAlias

import numpy as np
from tokenizers import Tokenizer

from niwaki.core import strict_json
from niwaki.core.errors import InputError

FILE = "grammar.json"
END = "[EOS]"
FORMAT = 1
MAX_BYTES = 4 << 20
MOST_RULES, MOST_SYMBOLS = 1_000, 50_000  # what a file may ask to be checked
UNREACHABLE = 1 << 30  # tokens to the end, where there is none

Symbol: TypeAlias = str | int
Alternative: TypeAlias = tuple[Sequence[str], Sequence[Symbol]]  # any of the first symbols, then all of the second
Rules: TypeAlias = Sequence[Sequence[Alternative]]
State: TypeAlias = (
    "tuple[int, State, int] | None"  # what is next, what comes then, fewest tokens to the end; None: ended
)


class Grammar:
    """Rules over the tokens of a vocabulary. A state is what is still to be written; what may come next hangs on its top
    alone, so that is worked out once."""

    def __init__(self, rules: Rules, vocabulary: Mapping[str, int]) -> None:
        check_rules(rules)
        lacking = sorted(symbol for symbol in symbols(rules) if symbol not in vocabulary)
        if lacking:
            raise InputError(
                f"'{lacking[0]}' is not one token of what is written{more(lacking)}; formulas need data.split = 'words' and data.vocab_size for all of them"
            )
        self.size = max(vocabulary.values()) + 1
        self.end = vocabulary[END]
        self._nearest = nearest_ends(rules)
        self._next: list[dict[int, tuple[int, ...]]] = [
            {
                vocabulary[first]: tuple(self._coded(symbol, vocabulary) for symbol in reversed(then))
                for firsts, then in rule
                for first in firsts
            }
            for rule in rules
        ]
        self._masks: dict[int, np.ndarray] = {}
        self._costs: dict[int, np.ndarray] = {}

    @staticmethod
    def _coded(symbol: Symbol, vocabulary: Mapping[str, int]) -> int:
        """Rules as their numbers, tokens below zero."""
        return symbol if isinstance(symbol, int) else -1 - vocabulary[symbol]

    def start(self) -> State:
        return self._pushed((0,), None)

    def allowed(self, state: State, room: int | None = None) -> np.ndarray:
        """(vocabulary,) bool: which tokens may come next, never none; the end only where the text may end. With `room`,
        those alone from which the end is reached within so many tokens, these included, where there are such."""
        top = -1 - self.end if state is None else state[0]
        mask = self._mask(top)
        if room is None or state is None or state[2] > room:
            return mask
        then = 0 if state[1] is None else state[1][2]
        return self._costs[top] <= room - then

    def after(self, state: State, token: int) -> State:
        """ValueError where the token was not allowed."""
        top = -1 - self.end if state is None else state[0]
        if top < 0:
            if token != -1 - top:
                raise ValueError(f"token {token} may not come here")
            return None if state is None else state[1]
        pushed = self._next[top].get(token)
        if pushed is None or state is None:
            raise ValueError(f"token {token} may not come here")
        return self._pushed(pushed, state[1])

    def least(self, state: State) -> int:
        """Fewest further tokens, the end included, that end the text."""
        return 0 if state is None else state[2]

    def accepts(self, tokens: Iterable[int]) -> bool:
        """Whether these, and then the end, are a whole text."""
        state = self.start()
        try:
            for token in (*tokens, self.end):
                if state is None:
                    return False
                state = self.after(state, token)
        except ValueError:
            return False
        return state is None

    def _pushed(self, symbols: Sequence[int], state: State) -> State:
        """Symbols on top of a state, the last of them uppermost."""
        for symbol in symbols:
            state = (symbol, state, (1 if symbol < 0 else self._nearest[symbol]) + (0 if state is None else state[2]))
        return state

    def _mask(self, top: int) -> np.ndarray:
        if top not in self._masks:
            costs = np.full(
                self.size, UNREACHABLE, dtype=np.int64
            )  # fewest tokens to the end of this symbol, by its first
            for token, then in [(-1 - top, ())] if top < 0 else self._next[top].items():
                costs[token] = 1 + sum(1 if symbol < 0 else self._nearest[symbol] for symbol in then)
            self._costs[top], self._masks[top] = costs, costs < UNREACHABLE
            costs.setflags(write=False)
            self._masks[top].setflags(write=False)
        return self._masks[top]


def read(data: bytes, target: Tokenizer, where: str = "") -> Grammar:
    """The grammar in a model's file, over its target tokens. Rejects a damaged file and one of another model."""
    path = str(Path(where) / FILE)
    if len(data) > MAX_BYTES:
        raise InputError(f"{path}: is larger than any that niwaki writes")
    content = strict_json.parse(data, path)
    try:
        return Grammar(parsed(content), target.get_vocab())
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def to_bytes(rules: Rules) -> bytes:
    """The content of the grammar file."""
    return json.dumps({"format": FORMAT, "rules": rules}, ensure_ascii=False, separators=(",", ":")).encode()


def parsed(content: object) -> Rules:
    """Rules from JSON, all of the types they must have."""
    if not isinstance(content, dict) or set(content) != {"format", "rules"} or content["format"] != FORMAT:
        raise InputError(f"must hold format {FORMAT} and rules, and nothing else")
    if not isinstance(content["rules"], list) or not all(
        isinstance(rule, list) and all(map(_is_alternative, rule)) for rule in content["rules"]
    ):
        raise InputError("a rule must be a list of alternatives: first symbols, and what follows them")
    return content["rules"]


def _is_alternative(content: object) -> bool:
    if not isinstance(content, list) or len(content) != 2 or not all(isinstance(part, list) for part in content):
        return False
    return all(type(symbol) is str for symbol in content[0]) and all(
        type(symbol) in (str, int) for symbol in content[1]
    )


def symbols(rules: Rules) -> set[str]:
    """All that is written by the rules."""
    return {symbol for alternative in each(rules) for part in alternative for symbol in part if isinstance(symbol, str)}


def each(rules: Rules) -> Iterator[Alternative]:
    return (alternative for rule in rules for alternative in rule)


def check_rules(rules: Rules) -> None:
    """Rejects rules unless the next symbol always decides, every text can end, and the end comes at the end alone."""
    if not rules:
        raise InputError("has no rules")
    if len(rules) > MOST_RULES or sum(len(firsts) + len(then) for firsts, then in each(rules)) > MOST_SYMBOLS:
        raise InputError(f"has more than {MOST_RULES} rules or {MOST_SYMBOLS} symbols, which no grammar here has")
    for number, rule in enumerate(rules):
        firsts = [first for some, _ in rule for first in some]
        if not firsts or not all(some for some, _ in rule) or len(set(firsts)) != len(firsts):
            raise InputError(f"rule {number} must have alternatives, each with first symbols that no other one has")
        for symbol in (symbol for _, then in rule for symbol in then):
            if isinstance(symbol, int) and not 0 <= symbol < len(rules):
                raise InputError(f"rule {number} asks for rule {symbol}, and there are {len(rules)}")
    if max(nearest_ends(rules)) >= UNREACHABLE:
        raise InputError("has a rule from which no text can end")
    check_termination(rules)


def nearest_ends(rules: Rules) -> list[int]:
    """Of each rule, the fewest tokens that complete it. The nearest are found first, and each rule is looked at once (Knuth 1977)."""
    nearest = [UNREACHABLE] * len(rules)
    waiting_for: dict[int, list[list[int]]] = defaultdict(list)  # by rule: the alternatives that contain it
    known: list[tuple[int, int]] = []
    for number, rule in enumerate(rules):
        for _, then in rule:
            others = [symbol for symbol in then if isinstance(symbol, int)]
            waiting = [1 + len(then) - len(others), len(others), number]  # tokens, rules not known yet, whose it is
            for other in others:
                waiting_for[other].append(waiting)
            if not others:
                known.append((waiting[0], number))
    heapify(known)
    while known:
        tokens, number = heappop(known)
        if nearest[number] < UNREACHABLE or tokens >= UNREACHABLE:
            continue
        nearest[number] = tokens
        for waiting in waiting_for[number]:
            waiting[0] += tokens
            waiting[1] -= 1
            if not waiting[1]:
                heappush(known, (waiting[0], waiting[2]))
    return nearest


def check_termination(rules: Rules) -> None:
    """The end must be the last symbol of all that is written, and stand nowhere else."""
    held: dict[Symbol, set[Symbol]] = defaultdict(set)  # by symbol: the rules that have it
    for number, rule in enumerate(rules):
        for symbol in (symbol for firsts, then in rule for symbol in (*firsts, *then)):
            held[symbol].add(number)
    ending: set[Symbol] = {END}
    new: set[Symbol] = ending
    while new:
        new = {number for symbol in new for number in held[symbol]} - ending
        ending = ending | new
    if 0 not in ending:
        raise InputError("its first rule never comes to the end")
    for number in (one for one in ending if isinstance(one, int)):
        for firsts, then in rules[number]:
            before, last = ([*firsts, *then[:-1]], [then[-1]]) if then else ([], firsts)
            if ending & set(before) or not ending >= set(last):
                raise InputError(f"rule {number} has the end where more must follow, or none where all ends")


def more(names: Sequence[str]) -> str:
    return f" (nor are {len(names) - 1} more)" if len(names) > 1 else ""
