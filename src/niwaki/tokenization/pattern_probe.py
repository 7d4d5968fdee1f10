"""Tries out patterns of a tokenizer on texts that make a backtracking engine slow, within one second for all of them.

Each pattern runs on runs of 1,000 characters of each kind, with others behind them. It also runs on short runs with a
condition behind it that never holds: the engine then goes through all ways to match, so that `(a|a)*`, which has 2^n of them,
shows at 64 characters, whatever follows it in the text. The real limit is the one on every text (`tokenizing.py`).
"""

import re
from collections.abc import Iterator, Sequence
from time import thread_time
from typing import Any

from niwaki.core.errors import is_panic
from niwaki.tokenization.time_limit import TimeLimitExceeded, run_within_limit, without_panics

SECONDS = 1.0
LONG, SHORT = 1000, 64
NEVER = "(?:{})(?!)"
USUAL = "aA0 \n\t'._!é中яα"
MAX_SIGNS = 30  # of one pattern that texts are made of
OTHER = "¤"
CODE = re.compile(r"\\x\{([0-9A-Fa-f]{1,6})\}|\\x([0-9A-Fa-f]{2})|\\u([0-9A-Fa-f]{4})")


def slow_pattern(patterns: Sequence[str]) -> str | None:
    """The pattern at which the second was over, or on which the engine gave up; None where all ended in time."""
    trials = [(pattern, tokenizer, text) for pattern in patterns for tokenizer, text in trials_of(pattern)]
    try:
        with without_panics():
            run_within_limit(
                trials, lambda trial: trial[1].encode_batch_fast([trial[2]]), lambda trial: SECONDS - thread_time()
            )
    except TimeLimitExceeded as error:
        return trials[error.number][0]
    return None


def trials_of(pattern: str) -> Iterator[tuple[Any, str]]:
    """A tokenizer that splits by the pattern, and a text, for each text to be tried. All characters of the pattern stand at the
    end of each: an engine does not begin where a text lacks a character that every match has."""
    plain, never = splitter(pattern), splitter(NEVER.format(pattern))
    signs = signs_of(pattern)
    every = "".join(signs)
    for run in [*signs, "a ", "a0", "a'", " \n"]:
        for end in (every, OTHER + every, "\n" + every):
            if never is not None:
                yield never, run * (SHORT // len(run)) + end
            if plain is not None:
                yield plain, run * (LONG // len(run)) + end


def signs_of(pattern: str) -> list[str]:
    """The characters that a pattern names, and some of every kind."""
    codes = [next(filter(None, found)) for found in CODE.findall(pattern)]
    named = [chr(int(code, 16)) for code in codes if not 0xD800 <= int(code, 16) < 0xE000 and int(code, 16) < 0x110000]
    return list(dict.fromkeys([*USUAL, *named, *pattern]))[: len(USUAL) + MAX_SIGNS]


def splitter(pattern: str) -> Any:
    """None for what the engine does not read: the library then says so when the tokenizer is loaded."""
    from tokenizers import Regex, Tokenizer, models, pre_tokenizers

    try:
        tokenizer = Tokenizer(models.WordLevel({"?": 0}, unk_token="?"))
        tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(pattern), "isolated")
    except BaseException as error:
        if not isinstance(error, Exception) and not is_panic(error):
            raise
        return None
    return tokenizer
