"""A tag for every word of a sentence: names, parts of speech. A sentence longer than the model reads is cut between words."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from tokenizers import Encoding, Tokenizer

from niwaki.answers._answer_type import (
    Answer,
    AnswerType,
    Columns,
    EncodedInputs,
    EncodedInputsBuilder,
    Input,
    Value,
    check_text,
    chunked,
    softmax,
    with_truncation,
)
from niwaki.data.column_names import TOKENS, known
from niwaki.tokenization.tokenizing import encode_batch

WORD = re.compile(r"\w+|[^\w\s]", re.UNICODE)  # how a plain text is cut into words where the user has not done it
OUTSIDE = "O"
Piece = tuple[int, list[str], Encoding]  # number of the first word, words, their tokens


@dataclass(frozen=True)
class Prediction(Answer):
    words: list[str]
    tags: list[str]
    probabilities: list[float]  # of each tag

    def __str__(self) -> str:
        return " ".join(
            word if tag == OUTSIDE else f"{word}/{tag}" for word, tag in zip(self.words, self.tags, strict=True)
        )


class Tags(AnswerType):
    architecture: ClassVar[str] = "TokenClassification"
    per_token: ClassVar[bool] = True
    input_description: ClassVar[str] = "a string, or a list of words"

    def check(self, given: object) -> Input:
        return check_words(given)

    def from_line(self, line: str) -> Any:
        return line

    def columns(self, names: Sequence[str]) -> list[Columns]:
        return [[name] for name in known(names, TOKENS)] or super().columns(names)

    def encode(self, inputs: Iterable[Input], tokenizer: Tokenizer, max_tokens: int) -> EncodedInputs:
        """Notes: for each sequence the place of every word's first token, and the number of its first word."""
        tokenizer = with_truncation(tokenizer, max_tokens)
        builder = EncodedInputsBuilder()
        for chunk in chunked(inputs):
            whole = encode_batch(tokenizer, chunk, is_pretokenized=True)
            segments = [
                (number, piece)
                for number, (words, encoding) in enumerate(zip(chunk, whole, strict=True))
                for piece in split_to_fit(list(words), encoding, tokenizer)
            ]
            metadata = [first_tokens(*piece) for _, piece in segments]
            builder.add([encoding for _, (*_, encoding) in segments], [number for number, _ in segments], metadata)
        return builder.done()

    def values(
        self, logits: np.ndarray, rows: EncodedInputs, inputs: Sequence[Input], labels: list[str]
    ) -> list[Value]:
        outside = labels.index(OUTSIDE) if OUTSIDE in labels else 0
        found = self._by_word(logits.argmax(axis=1), rows, inputs, outside)
        return [[labels[number] for number in tags] for tags in found]

    def answers(
        self, logits: np.ndarray, rows: EncodedInputs, inputs: Sequence[Input], labels: list[str]
    ) -> list[Prediction]:
        values = self.values(logits, rows, inputs, labels)
        sure = self._by_word(softmax(logits).max(axis=1), rows, inputs, 0.0)
        return [Prediction(list(words), tags, p.tolist()) for words, tags, p in zip(inputs, values, sure, strict=True)]

    def confidence(
        self, logits: np.ndarray, rows: EncodedInputs, inputs: Sequence[Input], labels: list[str]
    ) -> np.ndarray:
        """The largest probability at the least sure word; one without a token is no model's to judge, and does not count."""
        sure = self._by_word(softmax(logits).max(axis=1), rows, inputs, 1.0)
        return np.array([words.min(initial=1.0) for words in sure])

    def _by_word(
        self, per_token: np.ndarray, rows: EncodedInputs, inputs: Sequence[Input], without: object
    ) -> list[np.ndarray]:
        """What the first token of each word has; `without` for a word that has no token (a lone odd character)."""
        found = [np.full(len(words), without, dtype=per_token.dtype) for words in inputs]
        for number, (owner, (first, places)) in enumerate(zip(rows.input_index, rows.metadata, strict=True)):
            tokens = per_token[rows.ids.starts[number] : rows.ids.starts[number + 1]]
            real = places >= 0
            found[owner][first : first + len(places)][real] = tokens[places[real]]
        return found


def check_words(given: Any) -> list[str]:
    """The words of a list, or of a plain text."""
    words = WORD.findall(check_text(given)) if isinstance(given, str) else [check_text(word) for word in given]
    if not words:
        raise ValueError
    return words


def split_to_fit(words: list[str], encoding: Encoding, tokenizer: Tokenizer) -> Iterator[Piece]:
    """Stretches of words that fit, with the number of their first word. Most sentences are one stretch. A word that does
    not fit by itself loses its end."""
    if not encoding.overflowing:
        yield 0, words, encoding
        return
    parts = [encoding, *encoding.overflowing]
    tokens = Counter(word for part in parts for word in part.word_ids if word is not None)
    room = sum(word is not None for word in encoding.word_ids)
    starts, used = [0], 0
    for number in range(len(words)):
        size = max(1, tokens[number])
        if used and used + size > room:
            starts.append(number)
            used = 0
        used += size
    stretches = [words[start:end] for start, end in zip(starts, [*starts[1:], len(words)], strict=True)]
    # words have the same tokens in any company: tokenizers look at each of them alone
    yield from zip(starts, stretches, encode_batch(tokenizer, stretches, is_pretokenized=True), strict=True)


def first_tokens(first: int, words: Sequence[str], encoding: Encoding) -> tuple[int, np.ndarray]:
    places = np.full(len(words), -1)
    for place, word in reversed(list(enumerate(encoding.word_ids))):
        if word is not None:
            places[word] = place
    return first, places
