"""Trains a tokenizer on texts: words, byte-level BPE, WordPiece, bytes or characters, each with the same four special tokens first.

| split | tokens | a text, encoded and decoded | what it cannot represent |
|---|---|---|---|
| words | the most frequent words, split at spaces | with single spaces between words | an unknown word: [UNK] |
| bpe | bytes and what they merge to | the same text | nothing |
| wordpiece | beginnings of words, and `##` inside them | with single spaces between words | a word with an unknown character: [UNK] |
| bytes | the 256 bytes | the same text | nothing |
| characters | every character seen | the same text | an unknown character: [UNK] |

Texts are not normalized otherwise. Special tokens are tokens of the model and not its "added tokens", so that a text that
spells one out is read as letters; drop their ids before decoding. The same texts give the same bytes. Cost: WordPiece takes
two passes over the texts.

Papers: Sennrich et al. 2016 (BPE of words), Radford et al. 2019 (of bytes), Schuster and Nakajima 2012 (WordPiece).
"""

import json
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from tokenizers import Regex, Tokenizer, decoders, pre_tokenizers
from tokenizers.models import BPE, WordLevel, WordPiece
from tokenizers.trainers import BpeTrainer

from niwaki.core import strict_json
from niwaki.core.errors import InputError, UsageError, did_you_mean
from niwaki.data.limits import MAX_ROW_BYTES
from niwaki.tokenization import tokenizer_rules

SPECIAL_TOKENS = PAD, BOS, EOS, UNK = "[PAD]", "[BOS]", "[EOS]", "[UNK]"  # ids 0, 1, 2, 3
CONTINUES = "##"
MAX_TOKENS = 400_000  # so many still make a file that is read again
LONGEST_PIECE = 100  # characters, or bytes
LONGEST_WORD = 200  # characters, beyond which WordPiece gives a word up
SEEN_TWICE = 2  # times that a piece must be there before it is one
HELD_BYTES = 8 << 20  # of texts; more lie in a temporary file

Vocabulary = dict[str, int]


def make(texts: Iterable[str], split: str, vocab_size: int) -> str:
    """The JSON of a tokenizer of at most `vocab_size` tokens, special tokens included. Bytes are always 260, characters all that are seen."""
    if split not in SPLITS:
        raise UsageError(f"split '{split}': is not one{did_you_mean(str(split), list(SPLITS))}")
    if (
        isinstance(vocab_size, bool)
        or not isinstance(vocab_size, int)
        or not len(SPECIAL_TOKENS) < vocab_size <= MAX_TOKENS
    ):
        raise InputError(
            f"vocab_size: must be a whole number from {len(SPECIAL_TOKENS) + 1} to {MAX_TOKENS} (given: {vocab_size})"
        )
    text = SPLITS[split](_filled(_sound(texts)), vocab_size).to_str()
    tokenizer_rules.check(strict_json.parse(text.encode(), "tokenizer", tokenizer_rules.MAX_VALUES), "tokenizer")
    return text


# ── the texts ───────────────────────────────────────────────────────────────────────────────────────────────────────


def _sound(texts: Iterable[str]) -> Iterator[str]:
    """Each text as it comes, or a refusal that says which one it is."""
    if isinstance(texts, str | bytes):
        raise UsageError("texts: must be several texts, not one; put it into a list")
    for number, text in enumerate(texts, 1):
        if not isinstance(text, str):
            raise UsageError(f"texts: text {number} must be a string (given: {type(text).__name__})")
        if len(text) > MAX_ROW_BYTES:
            raise InputError(
                f"texts: text {number} is longer than {MAX_ROW_BYTES >> 20} million characters; cut it into lines"
            )
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise InputError(
                f"texts: text {number} is not Unicode ({error.reason} at {error.start}); fix or drop it"
            ) from None
        yield text


def _filled(texts: Iterable[str]) -> Iterator[str]:
    """Raises InputError if there is nothing to learn from."""
    filled = False
    for text in texts:
        filled = filled or bool(text.strip())
        yield text
    if not filled:
        raise InputError("texts: there is no word in them; a tokenizer is made from texts")


# ── a tokenizer of each kind ────────────────────────────────────────────────────────────────────────────────────────


def _words(texts: Iterable[str], vocab_size: int) -> Tokenizer:
    parts = _by_spaces(MARKED)
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(word for word, _ in parts.pre_tokenize_str(text) if len(word) <= LONGEST_WORD)
    common = sorted(counts, key=lambda word: (-counts[word], word))
    tokenizer = Tokenizer(WordLevel(vocab=_numbered(common[: vocab_size - len(SPECIAL_TOKENS)]), unk_token=UNK))
    tokenizer.pre_tokenizer = parts  # and no decoder: tokens are then joined by spaces
    return tokenizer


def _characters(texts: Iterable[str], vocab_size: int) -> Tokenizer:
    seen = sorted({sign for text in texts for sign in set(text)})
    tokenizer = Tokenizer(WordLevel(vocab=_numbered(seen), unk_token=UNK))
    tokenizer.pre_tokenizer = pre_tokenizers.FixedLength(1)
    tokenizer.decoder = decoders.Fuse()
    return tokenizer


def _bytes(texts: Iterable[str], vocab_size: int) -> Tokenizer:
    for _ in texts:  # they change nothing, but must be texts
        pass
    tokenizer = Tokenizer(BPE(vocab=_numbered(sorted(pre_tokenizers.ByteLevel.alphabet())), merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def _bpe(texts: Iterable[str], vocab_size: int) -> Tokenizer:
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    if vocab_size < len(SPECIAL_TOKENS) + len(alphabet):
        raise InputError(
            f"vocab_size: {vocab_size} are too few for bpe, where the {len(SPECIAL_TOKENS)} special tokens and all bytes are tokens; give at least {len(SPECIAL_TOKENS) + len(alphabet)}"
        )
    tokenizer = Tokenizer(BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    return _trained(tokenizer, texts, list(SPECIAL_TOKENS), vocab_size=vocab_size, initial_alphabet=alphabet)


def _wordpiece(texts: Iterable[str], vocab_size: int) -> Tokenizer:
    """The vocabulary is that of BPE inside words; what is new is how a word is cut, the longest piece first."""
    parts, signs = _by_spaces(MARKED_OR_CONTINUING), set[str]()
    with tempfile.SpooledTemporaryFile(HELD_BYTES, "w+", prefix="niwaki-", encoding="utf-8") as held:
        for text in texts:
            signs.update(text)
            held.write(json.dumps(text) + "\n")
        held.seek(0)
        alphabet = [sign for sign in sorted(signs) if parts.pre_tokenize_str(sign)]  # all but spaces
        first = [*SPECIAL_TOKENS, *alphabet, *(CONTINUES + sign for sign in alphabet)]
        if vocab_size < len(first):
            raise InputError(
                f"vocab_size: {vocab_size} are too few for wordpiece, where every character of the texts is a piece at the beginning of a word and inside one; give at least {len(first)}"
            )
        merged = Tokenizer(BPE(continuing_subword_prefix=CONTINUES))
        merged.pre_tokenizer = parts
        # the trainer numbers tokens inside words in the order it meets them, unless they are numbered before
        _trained(merged, map(json.loads, held), first, vocab_size=vocab_size, continuing_subword_prefix=CONTINUES)
    settings = {"max_input_chars_per_word": LONGEST_WORD, "continuing_subword_prefix": CONTINUES}
    tokenizer = Tokenizer(WordPiece(vocab=merged.get_vocab(), unk_token=UNK, **settings))
    tokenizer.pre_tokenizer = parts
    tokenizer.decoder = decoders.WordPiece(CONTINUES, cleanup=False)
    return tokenizer


SPLITS: dict[str, Callable[[Iterable[str], int], Tokenizer]] = {
    "words": _words,
    "bpe": _bpe,
    "wordpiece": _wordpiece,
    "bytes": _bytes,
    "characters": _characters,
}


# ── what they share ─────────────────────────────────────────────────────────────────────────────────────────────────

MARKED = rf"\[(?=(?:{'|'.join(mark[1:-1] for mark in SPECIAL_TOKENS)})\])"
MARKED_OR_CONTINUING = rf"{MARKED}|#(?=#)"


def _by_spaces(apart: str) -> Any:
    """Words as spaces part them; a word that spells out a mark or a continuing piece is broken, so that it is not taken for one."""
    return pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Split(Regex(apart), "isolated")])


def _numbered(tokens: Iterable[str]) -> Vocabulary:
    return {token: number for number, token in enumerate([*SPECIAL_TOKENS, *tokens])}


def _trained(tokenizer: Tokenizer, texts: Iterable[str], first: list[str], **settings: Any) -> Tokenizer:
    """`first` are the first tokens. The library would also match them in texts, as added tokens: here they are not."""
    trainer = BpeTrainer(
        min_frequency=SEEN_TWICE, max_token_length=LONGEST_PIECE, special_tokens=first, show_progress=False, **settings
    )
    tokenizer.train_from_iterator(texts, trainer)
    return Tokenizer.from_str(json.dumps({**json.loads(tokenizer.to_str()), "added_tokens": []}))
