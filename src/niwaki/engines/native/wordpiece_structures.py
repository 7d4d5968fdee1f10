"""The structures of the tokenizer (c/wordpiece.h)."""

from ctypes import Structure, c_int32, c_uint8, c_uint32, c_void_p
from typing import ClassVar

CHARACTERS, CHARACTER_BYTES, MAX_WORD_CHARACTERS, MAX_SPECIAL = (
    0x2100,
    3,
    340,
    4,
)  # as in wordpiece.h: characters, their bytes, characters of a word, special tokens


class Character(Structure):
    _fields_: ClassVar = [
        ("kind", c_uint8),
        ("bytes", c_uint8),
        ("becomes", c_uint8 * CHARACTER_BYTES),
        ("starts", c_uint8),
    ]


class VocabularyEntry(Structure):
    _fields_: ClassVar = [("hash", c_uint32), *((name, c_int32) for name in ("start", "bytes", "id", "inner"))]


class SpecialTokens(Structure):
    _fields_: ClassVar = [("count", c_int32), ("ids", c_int32 * MAX_SPECIAL), ("types", c_uint8 * MAX_SPECIAL)]


class Frame(Structure):
    _fields_: ClassVar = [*((name, SpecialTokens) for name in ("before", "between", "behind")), ("types", c_uint8 * 2)]


class Wordpiece(Structure):
    _fields_: ClassVar = [
        *((name, c_void_p) for name in ("signs", "letters", "slots")),
        *((name, c_int32) for name in ("slot_count", "longest", "unknown", "most_signs")),
        ("raw", c_void_p),
        ("raw_ends", c_void_p),
        ("raw_count", c_int32),
        ("alone", Frame),
        ("pair", Frame),
    ]
