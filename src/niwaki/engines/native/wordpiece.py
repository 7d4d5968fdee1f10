"""WordPiece in C, for tokenizers like BERT's: the same ids as the tokenizers library, about twenty times faster.

The tables are computed with the library: what it turns each character into, and the special tokens around a text and a pair. Texts
that the tables do not cover (rare scripts, combining marks, special tokens within a text) go through the library, one by one.
"""

import ctypes
import unicodedata
from collections.abc import Callable, Iterable, Set
from functools import cache

import numpy as np
from tokenizers import AddedToken, Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer

from niwaki.answers._answer_type import EncodedInputs, EncodedInputsBuilder, Input, chunked
from niwaki.engines.native import library as c
from niwaki.engines.native import wordpiece_structures as s
from niwaki.tokenization.tokenizing import encode_batch

UNKNOWN, GONE, BLANK, ALONE, PART = range(5)  # as in wordpiece.h
RANGES = (
    range(0x530),
    range(0x2010, 0x2028),
    range(0x2030, 0x205F),
    range(0x20A0, 0x20C0),
)  # Latin, Greek, Cyrillic; punctuation, currencies
ENTRY, CHARACTER = np.dtype(s.VocabularyEntry), np.dtype(s.Character)
LETTER = "a"  # stands for any text
MAX_TYPE = 255  # types are stored in a byte
NOTHING = [0] * s.CHARACTER_BYTES  # the bytes of a character that becomes nothing
Fallback = Callable[[list[Input]], EncodedInputs]  # encodes with the library


class Wordpiece:
    """The tables of the C code, and the memory that they point to."""

    def __init__(self, tables: s.Wordpiece, pinned: list[object], max_tokens: int) -> None:
        self.tables, self.pinned, self._max_tokens = tables, pinned, max_tokens
        self._special_count = max(
            sum(getattr(frame, part).count for part in ("before", "between", "behind"))
            for frame in (tables.alone, tables.pair)
        )

    @classmethod
    def of(cls, tokenizer: Tokenizer, max_tokens: int) -> "Wordpiece | None":
        """None if the C code does not support the tokenizer, or was not compiled."""
        library, model = c.library(), tokenizer.model
        added = list(tokenizer.get_added_tokens_decoder().values())
        if library is None or max_tokens <= 3 * s.MAX_SPECIAL or not known(tokenizer, added):
            return None
        vocabulary = tokenizer.get_vocab(with_added_tokens=False)
        frames = frames_of(tokenizer)
        if frames is None or model.unk_token not in vocabulary:
            return None
        entries, letters = vocabulary_entries(vocabulary, model.continuing_subword_prefix.encode())
        slots = np.zeros(2 << len(entries).bit_length(), dtype=ENTRY)
        words = [token.content.encode() for token in added]
        raw, ends = b"".join(words), np.cumsum([len(word) for word in words], dtype=np.int32)
        characters = character_table(tokenizer.normalizer, {token.content[0] for token in added})
        pinned = [characters, letters, slots, raw, ends]
        tables = s.Wordpiece(
            signs=characters.ctypes.data,
            letters=_address(letters),
            slots=slots.ctypes.data,
            slot_count=len(slots),
            longest=int(entries["bytes"].max(initial=0)),
            unknown=vocabulary[model.unk_token],
            most_signs=model.max_input_chars_per_word,
            raw=_address(raw),
            raw_ends=ends.ctypes.data,
            raw_count=len(words),
            alone=frames[0],
            pair=frames[1],
        )
        library.niwaki_fill_pieces(tables, entries.ctypes.data, len(entries))
        return cls(tables, pinned, max_tokens)

    def __call__(self, inputs: Iterable[Input], fallback: Fallback) -> EncodedInputs:
        """Texts, or pairs of texts."""
        builder = EncodedInputsBuilder()
        for chunk in chunked(inputs):
            builder.add_flat(*self._read(chunk, fallback))
        return builder.done()

    def _read(self, inputs: list[Input], fallback: Fallback) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Ids and types of all inputs, and the length of each."""
        ids, types, lengths = self._ids(inputs)
        unread = [number for number, length in enumerate(lengths.tolist()) if length < 0]
        if not unread:
            return ids, types, lengths
        rows = fallback([inputs[number] for number in unread])
        lengths[unread] = rows.ids.lengths
        read = np.ones(len(inputs), dtype=bool)
        read[unread] = False
        read = np.repeat(read, lengths)
        return _merged(read, ids, rows.ids.values), _merged(read, types, rows.types.values), lengths

    def _ids(self, inputs: list[Input]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The ids of the inputs that the C code supports; the length of the others is -1."""
        pairs = np.fromiter((not isinstance(given, str) for given in inputs), dtype=np.uint8, count=len(inputs))
        texts = (
            [text for given in inputs for text in ((given,) if isinstance(given, str) else given)]
            if pairs.any()
            else inputs
        )
        if len(texts) != len(inputs) + int(pairs.sum()):
            raise TypeError("inputs must be strings, or tuples of two")
        joined = "".join(texts)
        ascii_only = joined.isascii()
        encoded = [joined.encode()] if ascii_only else [text.encode() for text in texts]
        sizes = np.fromiter(map(len, texts if ascii_only else encoded), dtype=np.int64, count=len(texts))
        ends = np.cumsum(sizes)
        room = int(np.minimum(sizes, self._max_tokens).sum() + 2 * sizes.max()) + self._special_count * (
            len(inputs) + 1
        )
        ids, types, lengths = (
            np.empty(size, dtype=kind) for size, kind in ((room, np.int32), (room, np.uint8), (len(inputs), np.int32))
        )
        count = c.library().niwaki_encode(  # type: ignore[union-attr]
            self.tables,
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


def _merged(read: np.ndarray, ours: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    found = np.empty(len(read), dtype=ours.dtype)
    found[read], found[~read] = ours, theirs
    return found


def _address(data: bytes) -> int:
    return ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p).value or 0


def known(tokenizer: Tokenizer, added: list[AddedToken]) -> bool:
    """Whether the C code supports a tokenizer."""
    model = tokenizer.model
    return (
        isinstance(model, WordPiece)
        and isinstance(tokenizer.normalizer, BertNormalizer)
        and isinstance(tokenizer.pre_tokenizer, BertPreTokenizer)
        and 0 < model.max_input_chars_per_word <= s.MAX_WORD_CHARACTERS
        and not any(word.normalized or not word.content for word in added)  # the library finds those in normalized text
    )


def frames_of(tokenizer: Tokenizer) -> tuple[s.Frame, s.Frame] | None:
    """The special tokens around a text, and around a pair. Encodes as `AnswerType.encode` does, because without a post-processor the
    library's other methods give the second text another type."""
    found = []
    for count, texts in ((1, LETTER), (2, (LETTER, LETTER))):
        (encoding,) = encode_batch(tokenizer, [texts], fast=True)
        at = [place for place, text in enumerate(encoding.sequence_ids) if text is not None]
        if [encoding.sequence_ids[place] for place in at] != list(range(count)):
            return None
        characters = list(zip(encoding.ids, encoding.type_ids, strict=True))
        special = [characters[: at[0]], characters[at[0] + 1 : at[-1]], characters[at[-1] + 1 :]]
        if any(len(tokens) > s.MAX_SPECIAL for tokens in special) or max(encoding.type_ids) > MAX_TYPE:
            return None
        types = (ctypes.c_uint8 * 2)(characters[at[0]][1], characters[at[-1]][1])
        found.append(s.Frame(*(_special_tokens(tokens) for tokens in special), types))
    return found[0], found[1]


def _special_tokens(characters: list[tuple[int, int]]) -> s.SpecialTokens:
    ids, types = [one for one, _ in characters], [one for _, one in characters]
    return s.SpecialTokens(
        len(characters), (ctypes.c_int32 * s.MAX_SPECIAL)(*ids), (ctypes.c_uint8 * s.MAX_SPECIAL)(*types)
    )


def vocabulary_entries(vocabulary: dict[str, int], prefix: bytes) -> tuple[np.ndarray, bytes]:
    """The vocabulary as entries of the C table, and its letters. Tokens with the prefix may also continue a word."""
    words = [word.encode() for word in vocabulary]
    letters = b"".join(words)
    entries = np.zeros(len(words), dtype=ENTRY)
    entries["bytes"] = np.fromiter(map(len, words), dtype=np.int32, count=len(words))
    entries["start"] = np.cumsum(entries["bytes"]) - entries["bytes"]
    entries["id"] = np.fromiter(vocabulary.values(), dtype=np.int32, count=len(words))
    inner = entries[[word.startswith(prefix) for word in words]]
    inner["start"] += len(prefix)
    inner["bytes"] -= len(prefix)
    inner["inner"] = 1
    found = np.concatenate([entries, inner])
    return found[found["bytes"] > 0], letters


def character_table(normalizer: BertNormalizer, firsts: Set[str]) -> np.ndarray:
    """What the normalizer turns each character into, and which ones begin an added token."""
    settings = (normalizer.clean_text, normalizer.handle_chinese_chars, normalizer.strip_accents, normalizer.lowercase)
    characters = _character_table(*settings).copy()
    characters["starts"][[ord(character) for character in firsts if ord(character) < s.CHARACTERS]] = 1
    return characters


@cache
def _character_table(*settings: bool) -> np.ndarray:
    normalize = BertNormalizer(*settings).normalize_str
    characters = np.zeros(s.CHARACTERS, dtype=CHARACTER)
    for point in (point for some in RANGES for point in some):
        character = chr(point)
        if unicodedata.category(character)[0] != "M":  # combining marks join the character before them
            characters[point] = (*_becomes(normalize(character)), 0)
    return characters


def _becomes(character: str) -> tuple[int, int, list[int]]:
    """The kind and the bytes of a normalized character."""
    data = character.encode()
    if not character:
        return GONE, 0, NOTHING
    if len(character) > 1 or len(data) > s.CHARACTER_BYTES:
        return UNKNOWN, 0, NOTHING
    words = BertPreTokenizer().pre_tokenize_str(LETTER + character + LETTER)
    return {1: PART, 2: BLANK, 3: ALONE}[len(words)], len(data), [*data.ljust(s.CHARACTER_BYTES, b"\0")]
