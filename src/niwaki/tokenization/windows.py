"""Documents to sequences of a given length. No sequence crosses the boundary of a document.

A document that is longer is cut into parts whose lengths differ by at most one token, so that none is a short rest. Batches
are packed without padding (`models/layout.py`), so short documents cost no more than their tokens.
"""

from collections.abc import Iterable, Iterator

import numpy as np
from tokenizers import Tokenizer

from niwaki.core.errors import InputError
from niwaki.tokenization.tokenizing import encode, encode_batch
from niwaki.tokenization.trimming import without_padding


def windows(
    batches: Iterable[list[str]], tokenizer: Tokenizer, max_tokens: int
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """For each batch of documents the tokens of its sequences, one behind the other, their lengths, and the number of the document
    that each belongs to. Each begins and ends with the special tokens of a text; documents without tokens are left out."""
    tokenizer = without_padding(tokenizer)
    before, after = special_tokens(tokenizer)
    room = max_tokens - len(before) - len(after)
    if room < 1:
        raise InputError(f"data.max_tokens: {max_tokens} leave no room between the special tokens; take more")
    first = 0
    for batch in batches:
        encodings = encode_batch(tokenizer, batch, fast=True, add_special_tokens=False)
        found = [
            (number, np.concatenate([before, part, after]))
            for number, encoding in enumerate(encodings, start=first)
            for part in even_parts(np.asarray(encoding.ids, dtype=np.int64), room)
        ]
        first += len(batch)
        if found:
            documents, sequences = zip(*found, strict=True)
            yield np.concatenate(sequences), np.array([len(part) for part in sequences]), np.array(documents)


def beginnings(
    batches: Iterable[list[str]], tokenizer: Tokenizer, max_tokens: int
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """The same with one sequence for each text, which ends at `max_tokens`; texts without tokens have special tokens alone."""
    tokenizer = without_padding(tokenizer)
    before, after = special_tokens(tokenizer)
    room, first = max_tokens - len(before) - len(after), 0
    for batch in batches:
        encodings = encode_batch(tokenizer, batch, fast=True, add_special_tokens=False)
        found = [np.concatenate([before, np.asarray(one.ids[:room], dtype=np.int64), after]) for one in encodings]
        yield np.concatenate(found), np.array([len(part) for part in found]), np.arange(first, first + len(batch))
        first += len(batch)


def even_parts(ids: np.ndarray, room: int) -> list[np.ndarray]:
    """As few parts of at most `room` tokens as there can be, of nearly equal lengths."""
    return np.array_split(ids, -(-len(ids) // room)) if len(ids) else []


def special_tokens(tokenizer: Tokenizer) -> tuple[np.ndarray, np.ndarray]:
    """The special tokens before and after a text."""
    encoded = encode(tokenizer, "a")
    inside = [at for at, special in enumerate(encoded.special_tokens_mask) if not special]
    first, last = (inside[0], inside[-1] + 1) if inside else (len(encoded.ids), len(encoded.ids))
    return np.array(encoded.ids[:first], dtype=np.int64), np.array(encoded.ids[last:], dtype=np.int64)
