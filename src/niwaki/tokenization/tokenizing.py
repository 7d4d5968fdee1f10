"""Texts to tokens, under a time limit where a tokenizer in this process has a pattern that is not well known.

Whether a pattern is slow depends on the text, so the limit is on every text: one second of processor time, and a second more
for each 100,000 characters. Models with published patterns only are tokenized without a watch, in parallel.
"""

import os
from collections.abc import Sequence

from tokenizers import Encoding, Tokenizer

from niwaki.core.errors import InputError
from niwaki.tokenization.time_limit import TimeLimitExceeded, run_within_limit, without_panics

SECONDS, SECONDS_PER_CHARACTER = 1.0, 1e-5
_watched: set[str] = set()
Words = str | Sequence[str]  # a text, or one that is split into words
TokenizerInput = Words | tuple[Words, Words]


def limit_time(pattern: str) -> None:
    """From now on every text is tokenized under the limit. In one thread: the time of others is not that of a text."""
    _watched.add(pattern)
    os.environ["TOKENIZERS_PARALLELISM"] = "false"


def encode_batch(
    tokenizer: Tokenizer, inputs: Sequence[TokenizerInput], fast: bool = False, **options: bool
) -> list[Encoding]:
    """What the tokenizer's `encode_batch` gives, or `encode_batch_fast`, which leaves offsets out."""
    encode = tokenizer.encode_batch_fast if fast else tokenizer.encode_batch
    if not _watched:
        return encode(inputs, **options)
    try:
        with without_panics():
            return [found for (found,) in run_within_limit(inputs, lambda given: encode([given], **options), _seconds)]
    except TimeLimitExceeded as error:
        given = inputs[error.number]
        raise InputError(
            f"tokenizer.json: pattern {min(_watched)[:60]!r} takes more than {_seconds(given):.0f} s for a text of {_length(given)} "
            "characters; use a tokenizer with a published pattern"
        ) from None


def encode(tokenizer: Tokenizer, text: Words, pair: Words | None = None, **options: bool) -> Encoding:
    """One text, or two."""
    return encode_batch(tokenizer, [text if pair is None else (text, pair)], **options)[0]


def _seconds(given: TokenizerInput) -> float:
    return SECONDS + SECONDS_PER_CHARACTER * _length(given)


def _length(given: TokenizerInput) -> int:
    return len(given) if isinstance(given, str) else sum(map(_length, given))
