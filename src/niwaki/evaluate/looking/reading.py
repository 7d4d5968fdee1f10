"""An input as a model reads it: its words, and the tokens of the sequence that is looked at."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from tokenizers import Encoding, Tokenizer

from niwaki.answers._answer_type import AnswerType, EncodedInputs, Input, with_truncation
from niwaki.answers._occlusion import Word, words_of
from niwaki.answers.choice import Choice
from niwaki.answers.span import Span
from niwaki.answers.tags import Tags
from niwaki.tokenization.tokenizing import encode

NO_WORD = -1


@dataclass(frozen=True)
class Reading:
    given: Input
    encoded: EncodedInputs
    sequence: int  # number of the sequence that is looked at; an input may need several
    tokens: list[str]
    words: list[Word]  # none where the answer type marks words in its own way
    word_of: list[int]  # of each token; NO_WORD for special tokens

    @property
    def ids(self) -> np.ndarray:
        return self.encoded.ids[self.sequence].astype(np.int64)

    @property
    def types(self) -> np.ndarray:
        return self.encoded.types[self.sequence].astype(np.int64)

    @property
    def note(self) -> object:
        """What the answer type keeps of the sequence."""
        return self.encoded.metadata[self.sequence] if self.encoded.metadata else None


def reading_of(
    kind: AnswerType, given: Input, encoded: EncodedInputs, sequence: int, tokenizer: Tokenizer, max_tokens: int
) -> Reading:
    ids = encoded.ids[sequence].tolist()
    encoding = _encoding(kind, given, sequence, tokenizer, max_tokens)
    if encoding is None or encoding.ids != ids:
        names = [tokenizer.decode([one], skip_special_tokens=False).strip() or "·" for one in ids]
        return Reading(given, encoded, sequence, names, [], [NO_WORD] * len(ids))
    words = words_of(_texts(kind, given, sequence))
    by_list = isinstance(kind, Tags)
    word_of = [
        NO_WORD if special else _word(words, encoding, at, by_list) for at, special in enumerate(_special(encoding))
    ]
    tokens = [_name(encoding, at, words, word_of[at], tokenizer, by_list) for at in range(len(ids))]
    return Reading(given, encoded, sequence, tokens, words, word_of)


def _texts(kind: AnswerType, given: Input, sequence: int) -> Input:
    """The texts of a sequence: of a choice, the beginning and one ending."""
    return (given[0], given[1][sequence]) if isinstance(kind, Choice) else given


def _encoding(kind: AnswerType, given: Input, sequence: int, tokenizer: Tokenizer, max_tokens: int) -> Encoding | None:
    """The sequence with offsets, which answer types do not keep."""
    texts = _texts(kind, given, sequence)
    if isinstance(kind, Tags):
        return encode(with_truncation(tokenizer, max_tokens), texts, is_pretokenized=True) if sequence == 0 else None
    if isinstance(texts, str):
        return encode(with_truncation(tokenizer, max_tokens), texts)
    if not isinstance(texts, tuple) or not all(isinstance(text, str) for text in texts):
        return None
    cut = with_truncation(tokenizer, max_tokens)
    if isinstance(kind, Span):
        cut = with_truncation(tokenizer, max_tokens, strategy="only_second", stride=min(kind.stride, max_tokens // 4))
    found = encode(cut, *texts)
    return [found, *found.overflowing][sequence] if isinstance(kind, Span) else found


def _special(encoding: Encoding) -> Sequence[bool]:
    return [bool(special) for special in encoding.special_tokens_mask]


def _word(words: Sequence[Word], encoding: Encoding, at: int, by_list: bool) -> int:
    """The word that a token ends in; byte-level tokens begin with the space before it."""
    if by_list:
        found = encoding.word_ids[at]
        return NO_WORD if found is None else int(found)
    side, (start, end) = int(encoding.sequence_ids[at] or 0), encoding.offsets[at]
    if end <= start:
        return NO_WORD
    inside = (n for n, word in enumerate(words) if word.side == side and word.start < end <= word.end)
    return next(inside, NO_WORD)


def _name(encoding: Encoding, at: int, words: Sequence[Word], word: int, tokenizer: Tokenizer, by_list: bool) -> str:
    """The characters that a token stands for; of special tokens their names."""
    if word == NO_WORD:
        return encoding.tokens[at]
    start, end = encoding.offsets[at]
    found = words[word]
    shift = 0 if by_list else found.start
    return found.text[max(0, start - shift) : end - shift] or encoding.tokens[at]
