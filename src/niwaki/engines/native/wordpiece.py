"""Texts to ids by our own C, for tokenizers like BERT's: the ids of the tokenizers library, some twenty times sooner.

The library says what becomes of each sign, and of each frame of marks around texts; the C looks words up. What it has no table
for (rare scripts, combining marks, special words within a text) is left to the library, input by input.
"""

import ctypes
import unicodedata
from collections.abc import Callable, Iterable, Set
from functools import cache
from typing import Any

import numpy as np
from tokenizers import AddedToken, Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer

from niwaki.answers._answer_type import EncodedInputs, EncodedInputsBuilder, Input, chunked
from niwaki.engines.native import library as c
from niwaki.tokenization.tokenizing import encode_batch

UNKNOWN, GONE, BLANK, ALONE, PART = range(5)  # as in wordpiece.h
RANGES = (
    range(0x530),
    range(0x2010, 0x2028),
    range(0x2030, 0x205F),
    range(0x20A0, 0x20C0),
)  # Latin, Greek, Cyrillic; marks, money
PIECE, SIGN = np.dtype(c.Piece), np.dtype(c.Sign)
LETTER = "a"  # to ask the library with
MOST_TYPE = 255  # of a byte
NOTHING = [0] * c.SIGN_BYTES  # that a sign becomes
Others = Callable[[list[Input]], EncodedInputs]  # reads what is left to the library


class Wordpiece:
    """The tables that the C reads, and what they point to."""

    def __init__(self, tables: c.Wordpiece, kept: list[Any], max_tokens: int) -> None:
        self._tables, self._kept, self._max_tokens = tables, kept, max_tokens
        self._marks = max(
            sum(getattr(frame, part).count for part in ("before", "between", "behind"))
            for frame in (tables.alone, tables.pair)
        )

    @classmethod
    def of(cls, tokenizer: Tokenizer, max_tokens: int) -> "Wordpiece | None":
        """None where the C cannot do what the tokenizer does, or was not compiled."""
        library, model = c.library(), tokenizer.model
        added = list(tokenizer.get_added_tokens_decoder().values())
        if library is None or max_tokens <= 3 * c.MOST_MARKS or not known(tokenizer, added):
            return None
        vocabulary = tokenizer.get_vocab(with_added_tokens=False)
        frames = frames_of(tokenizer)
        if frames is None or model.unk_token not in vocabulary:
            return None
        pieces, letters = pieces_of(vocabulary, model.continuing_subword_prefix.encode())
        slots = np.zeros(2 << len(pieces).bit_length(), dtype=PIECE)
        words = [token.content.encode() for token in added]
        raw, ends = b"".join(words), np.cumsum([len(word) for word in words], dtype=np.int32)
        signs = signs_of(tokenizer.normalizer, {token.content[0] for token in added})
        kept = [signs, letters, slots, raw, ends]
        tables = c.Wordpiece(
            signs=signs.ctypes.data,
            letters=_address(letters),
            slots=slots.ctypes.data,
            slot_count=len(slots),
            longest=int(pieces["bytes"].max(initial=0)),
            unknown=vocabulary[model.unk_token],
            most_signs=model.max_input_chars_per_word,
            raw=_address(raw),
            raw_ends=ends.ctypes.data,
            raw_count=len(words),
            alone=frames[0],
            pair=frames[1],
        )
        library.niwaki_fill_pieces(tables, pieces.ctypes.data, len(pieces))
        return cls(tables, kept, max_tokens)

    def __call__(self, inputs: Iterable[Input], others: Others) -> EncodedInputs:
        """Texts, or pairs of texts."""
        writer = EncodedInputsBuilder()
        for chunk in chunked(inputs):
            writer.add_flat(*self._read(chunk, others))
        return writer.done()

    def _read(self, inputs: list[Input], others: Others) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Ids and types of all inputs, and the length of each."""
        ids, types, lengths = self._ids(inputs)
        left = [number for number, length in enumerate(lengths.tolist()) if length < 0]
        if not left:
            return ids, types, lengths
        rows = others([inputs[number] for number in left])
        lengths[left] = rows.ids.lengths
        own = np.ones(len(inputs), dtype=bool)
        own[left] = False
        own = np.repeat(own, lengths)
        return _merged(own, ids, rows.ids.values), _merged(own, types, rows.types.values), lengths

    def _ids(self, inputs: list[Input]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """What the C reads; the length of the others is -1."""
        pairs = np.fromiter((not isinstance(one, str) for one in inputs), dtype=np.uint8, count=len(inputs))
        texts = (
            [text for one in inputs for text in ((one,) if isinstance(one, str) else one)] if pairs.any() else inputs
        )
        if len(texts) != len(inputs) + int(pairs.sum()):
            raise TypeError("inputs must be strings, or tuples of two")
        joined = "".join(texts)
        ascii_only = joined.isascii()
        encoded = [joined.encode()] if ascii_only else [text.encode() for text in texts]
        sizes = np.fromiter(map(len, texts if ascii_only else encoded), dtype=np.int64, count=len(texts))
        ends = np.cumsum(sizes)
        room = int(np.minimum(sizes, self._max_tokens).sum() + 2 * sizes.max()) + self._marks * (len(inputs) + 1)
        ids, types, lengths = (
            np.empty(size, dtype=kind) for size, kind in ((room, np.int32), (room, np.uint8), (len(inputs), np.int32))
        )
        count = c.library().niwaki_encode(  # type: ignore[union-attr]
            self._tables,
            b"".join(encoded),
            ends.ctypes.data,
            pairs.ctypes.data,
            len(inputs),
            self._max_tokens,
            ids.ctypes.data,
            types.ctypes.data,
            lengths.ctypes.data,
        )
        return ids[:count], types[:count], lengths


def _merged(own: np.ndarray, ours: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    found = np.empty(len(own), dtype=ours.dtype)
    found[own], found[~own] = ours, theirs
    return found


def _address(data: bytes) -> int:
    return ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p).value or 0


def known(tokenizer: Tokenizer, added: list[AddedToken]) -> bool:
    """Whether a tokenizer is of the sort that the C knows."""
    model = tokenizer.model
    return (
        isinstance(model, WordPiece)
        and isinstance(tokenizer.normalizer, BertNormalizer)
        and isinstance(tokenizer.pre_tokenizer, BertPreTokenizer)
        and 0 < model.max_input_chars_per_word <= c.MOST_SIGNS
        and not any(word.normalized or not word.content for word in added)  # these are looked for in what signs became
    )


def frames_of(tokenizer: Tokenizer) -> tuple[c.Frame, c.Frame] | None:
    """What the tokenizer puts around a text, and around two; asked as `AnswerType.encode` asks, since without a post-processor the
    library gives the second text another type when it is asked otherwise."""
    found = []
    for count, texts in ((1, LETTER), (2, (LETTER, LETTER))):
        (encoding,) = encode_batch(tokenizer, [texts], fast=True)
        at = [place for place, text in enumerate(encoding.sequence_ids) if text is not None]
        if [encoding.sequence_ids[place] for place in at] != list(range(count)):
            return None
        signs = list(zip(encoding.ids, encoding.type_ids, strict=True))
        marks = [signs[: at[0]], signs[at[0] + 1 : at[-1]], signs[at[-1] + 1 :]]
        if any(len(one) > c.MOST_MARKS for one in marks) or max(encoding.type_ids) > MOST_TYPE:
            return None
        types = (ctypes.c_uint8 * 2)(signs[at[0]][1], signs[at[-1]][1])
        found.append(c.Frame(*(_marks(one) for one in marks), types))
    return found[0], found[1]


def _marks(signs: list[tuple[int, int]]) -> c.Marks:
    ids, types = [one for one, _ in signs], [one for _, one in signs]
    return c.Marks(len(signs), (ctypes.c_int32 * c.MOST_MARKS)(*ids), (ctypes.c_uint8 * c.MOST_MARKS)(*types))


def pieces_of(vocabulary: dict[str, int], prefix: bytes) -> tuple[np.ndarray, bytes]:
    """The pieces as the C's table takes them, and their letters. What begins with the prefix may also continue a word."""
    words = [word.encode() for word in vocabulary]
    letters = b"".join(words)
    pieces = np.zeros(len(words), dtype=PIECE)
    pieces["bytes"] = np.fromiter(map(len, words), dtype=np.int32, count=len(words))
    pieces["start"] = np.cumsum(pieces["bytes"]) - pieces["bytes"]
    pieces["id"] = np.fromiter(vocabulary.values(), dtype=np.int32, count=len(words))
    inner = pieces[[word.startswith(prefix) for word in words]]
    inner["start"] += len(prefix)
    inner["bytes"] -= len(prefix)
    inner["inner"] = 1
    found = np.concatenate([pieces, inner])
    return found[found["bytes"] > 0], letters


def signs_of(normalizer: BertNormalizer, firsts: Set[str]) -> np.ndarray:
    """What becomes of each sign, and which ones begin a word that is looked for in raw text."""
    settings = (normalizer.clean_text, normalizer.handle_chinese_chars, normalizer.strip_accents, normalizer.lowercase)
    signs = _signs(*settings).copy()
    signs["starts"][[ord(sign) for sign in firsts if ord(sign) < c.SIGNS]] = 1
    return signs


@cache
def _signs(*settings: Any) -> np.ndarray:
    normalize = BertNormalizer(*settings).normalize_str
    signs = np.zeros(c.SIGNS, dtype=SIGN)
    for point in (point for some in RANGES for point in some):
        sign = chr(point)
        if unicodedata.category(sign)[0] != "M":  # marks join the sign before them
            signs[point] = (*_becomes(normalize(sign)), 0)
    return signs


def _becomes(sign: str) -> tuple[int, int, list[int]]:
    """Of what the normalizer makes of a sign: its kind, and its bytes."""
    data = sign.encode()
    if not sign:
        return GONE, 0, NOTHING
    if len(sign) > 1 or len(data) > c.SIGN_BYTES:
        return UNKNOWN, 0, NOTHING
    words = BertPreTokenizer().pre_tokenize_str(LETTER + sign + LETTER)
    return {1: PART, 2: BLANK, 3: ALONE}[len(words)], len(data), [*data.ljust(c.SIGN_BYTES, b"\0")]
