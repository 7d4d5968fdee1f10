"""Sentences with a marked predicate as sequences of tokens, for semantic roles."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from tokenizers import Encoding, Tokenizer

from niwaki.answers._answer_type import Tokens, with_truncation
from niwaki.answers.tags import first_tokens, split_to_fit
from niwaki.core.errors import InputError
from niwaki.tokenization.tokenizing import encode, encode_batch

SEPARATORS = 2  # special tokens around a predicate
Note = tuple[int, np.ndarray, int]  # first word, position of each word's first token, the predicate's word or -1


@dataclass(frozen=True)
class Marked:
    """The tokens of a sentence whose predicate is marked."""

    ids: list[int]
    type_ids: list[int]


def separator_of(tokenizer: Tokenizer) -> int:
    """The mark that ends a text."""
    ids = encode(tokenizer, "").ids
    if not ids:
        raise InputError("roles: the tokenizer ends texts with no mark, which is needed to mark predicates")
    return ids[-1]


class Marker:
    """Sentences to sequences of tokens, by one tokenizer and at most so many tokens."""

    def __init__(self, tokenizer: Tokenizer, max_tokens: int) -> None:
        self.whole = with_truncation(tokenizer, max_tokens)
        self.separator, self.max_tokens = separator_of(self.whole), max_tokens

    def sequences(
        self, words: Sequence[str], predicate: int | None, encoding: Encoding
    ) -> Iterator[tuple[Tokens, Note]]:
        """Tokens and notes of one input; `encoding` is that of all its words."""
        if predicate is None:
            for number, some, tokens in split_to_fit(list(words), encoding, self.whole):
                yield tokens, (*first_tokens(number, some, tokens), -1)
            return
        first, end = 0, len(words)
        if encoding.overflowing or len(encoding.ids) + SEPARATORS > self.max_tokens:
            first, end = window(words, predicate, encoding, self.max_tokens - SEPARATORS)
            encoding = encode_batch(self.whole, [words[first:end]], is_pretokenized=True)[0]
        yield self.marked(encoding, first, words[first:end], predicate)

    def marked(self, encoding: Encoding, first: int, words: Sequence[str], predicate: int) -> tuple[Marked, Note]:
        """A separator before and after the tokens of the predicate, and type 1 from the one to the other. A predicate that does
        not fit by itself loses its end; one that has no token (a lone odd character) is marked at the end of the sentence, by
        two separators with nothing between."""
        places = first_tokens(first, words, encoding)[1]
        own = [place for place, word in enumerate(encoding.word_ids) if word == predicate - first]
        start, end = (own[0], own[-1] + 1) if own else (len(encoding.ids) - 1, len(encoding.ids) - 1)
        over = max(0, len(encoding.ids) + SEPARATORS - self.max_tokens)
        marked_ids = [self.separator, *encoding.ids[start : end - over], self.separator]
        ids = [*encoding.ids[:start], *marked_ids, *encoding.ids[end:]]
        types = [0] * start + [1] * len(marked_ids) + [0] * (len(encoding.ids) - end)
        places = places + (places >= start) + (places >= end) * (SEPARATORS - 1 - over)
        if not own:
            places[predicate - first] = start
        return Marked(ids, types), (first, places, predicate)


def window(words: Sequence[str], predicate: int, encoding: Encoding, most: int) -> tuple[int, int]:
    """First and last word (not in it) of the stretch around the predicate that fits, as wide to the left as to the right."""
    parts = [encoding, *encoding.overflowing]
    tokens = Counter(word for part in parts for word in part.word_ids if word is not None)
    room = most - sum(encoding.special_tokens_mask) - max(1, tokens[predicate])
    first, end = predicate, predicate + 1
    while True:
        sides = [(end, tokens[end])] if end < len(words) else []
        sides += [(first - 1, tokens[first - 1])] if first > 0 else []
        fitting = [at for at, size in sides if size <= room]
        if not fitting:
            return first, end
        at = min(fitting, key=lambda at: abs(at - predicate))
        room -= tokens[at]
        first, end = min(first, at), max(end, at + 1)
