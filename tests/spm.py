"""Writes tiny SentencePiece models, byte by byte, as the format of protocol buffers says."""

import struct

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)
UNIGRAM, BPE = 1, 2
SPECIAL = [("<unk>", 0.0, UNKNOWN), ("<s>", 0.0, CONTROL), ("</s>", 0.0, CONTROL)]
LETTERS = "▁abcdefghijklmnopqrstuvwxyz.,'"
WORDS = ["▁the", "▁film", "▁good", "▁go", "od", "ilm", "▁f", "th", "he", "oo", "▁a", "▁was", "as", "was"]
UNIGRAM_TOKENS = [(text, -6.0 - 0.1 * place, NORMAL) for place, text in enumerate(LETTERS)] + [
    (text, -3.0 - 0.37 * place, NORMAL) for place, text in enumerate(WORDS)
]
# in the order of merging
MERGED = ["oo", "he", "▁t", "▁the", "lm", "ilm", "▁f", "▁film", "od", "▁go", "ood", "▁g", "▁good", "as", "▁w", "▁was"]
BPE_TOKENS = [(text, -float(place), NORMAL) for place, text in enumerate([*MERGED, *LETTERS])]
TEXTS = [
    "the film was good",
    "a good film, the film.",
    "goods",
    "oo",
    "  the   the ",
    "",
    "thefilm é the",
    "was it?",
    "é",
    " ",
]


def model(tokens=UNIGRAM_TOKENS, kind=UNIGRAM, special=SPECIAL, byte_fallback=False, normalizer=None, trainer=()):
    """The bytes of a model; `normalizer` and `trainer` are further fields."""
    listed = [*special, *tokens]
    if byte_fallback:
        listed += [(f"<0x{value:02X}>", 0.0, BYTE) for value in range(256)]
    entries = b"".join(field(1, text(1, name) + number(2, score) + whole(3, kind_)) for name, score, kind_ in listed)
    trained = whole(3, kind) + whole(35, int(byte_fallback)) + b"".join(trainer)
    return entries + field(2, trained) + field(3, normalizer or b"")


def varint(value: int) -> bytes:
    found = b""
    while value > 127:
        found, value = found + bytes([value & 127 | 128]), value >> 7
    return found + bytes([value])


def field(place: int, content: bytes) -> bytes:
    return varint(place << 3 | 2) + varint(len(content)) + content


def text(place: int, value: str) -> bytes:
    return field(place, value.encode())


def whole(place: int, value: int) -> bytes:
    return varint(place << 3) + varint(value)


def number(place: int, value: float) -> bytes:
    return varint(place << 3 | 5) + struct.pack("<f", value)
