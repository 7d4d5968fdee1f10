"""Tokenizers without a vocabulary file: the bytes of a text, or its characters, under ids that follow from them.

The library needs a table. For characters it holds the assigned code points, so an unassigned one is read as the replacement
character U+FFFD.
"""

import unicodedata
from collections.abc import Callable

from tokenizers import AddedToken, Tokenizer, decoders, pre_tokenizers
from tokenizers.models import BPE, WordLevel

BYTES, CODE_POINTS = 256, 0x110000
REPLACEMENT = "\ufffd"
UNASSIGNED = ("Cn", "Cs")  # categories without characters, and of half characters


def byte_tokenizer(first_id: int, special_tokens: list[tuple[AddedToken, int]]) -> Tokenizer:
    """Byte b gets the id first_id + b."""
    vocabulary = {token.content: number for token, number in special_tokens}
    vocabulary |= {sign: first_id + value for value, sign in byte_signs().items()}
    tokenizer = Tokenizer(BPE(vocab=vocabulary, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.decoder = decoders.ByteLevel()
    return _with_special_tokens(tokenizer, special_tokens)


def character_tokenizer(id_of: Callable[[str], int], special_tokens: list[tuple[AddedToken, int]]) -> Tokenizer:
    """A character gets the id that `id_of` says, e.g. its code point."""
    characters = filter(lambda one: unicodedata.category(one) not in UNASSIGNED, map(chr, range(CODE_POINTS)))
    tokenizer = Tokenizer(WordLevel({one: id_of(one) for one in characters}, unk_token=REPLACEMENT))
    tokenizer.pre_tokenizer = pre_tokenizers.FixedLength(1)
    tokenizer.decoder = decoders.Fuse()
    return _with_special_tokens(tokenizer, special_tokens)


def byte_signs() -> dict[int, str]:
    """The printable character by which byte-level tokenizers write each byte."""
    printable = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    others = [value for value in range(BYTES) if value not in printable]
    return {
        **{value: chr(value) for value in printable},
        **{value: chr(BYTES + place) for place, value in enumerate(others)},
    }


def _with_special_tokens(tokenizer: Tokenizer, special_tokens: list[tuple[AddedToken, int]]) -> Tokenizer:
    tokenizer.add_special_tokens([token for token, _ in sorted(special_tokens, key=lambda one: one[1])])
    return tokenizer
