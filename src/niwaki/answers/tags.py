"""A tag for every word of a sentence: names, parts of speech. A sentence longer than the model reads is cut between words."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from tokenizers import Encoding, Tokenizer

from niwaki.answers._kind import Answer, Input, Kind, Rows, Value, Writer, chunked, filled, limited, softmax

WORD = re.compile(r"\w+|[^\w\s]", re.UNICODE)  # how a plain text is cut into words where the user has not done it
OUTSIDE = "O"


@dataclass(frozen=True)
class Prediction(Answer):
    words: list[str]
    tags: list[str]
    probabilities: list[float]  # of each tag

    def __str__(self) -> str:
        return " ".join(
            word if tag == OUTSIDE else f"{word}/{tag}" for word, tag in zip(self.words, self.tags, strict=True)
        )


class Tags(Kind):
    architecture: ClassVar[str] = "TokenClassification"
    per_token: ClassVar[bool] = True
    wants: ClassVar[str] = "a string, or a list of words"

    def check(self, given: Any) -> Input:
        words = WORD.findall(filled(given)) if isinstance(given, str) else [filled(word) for word in given]
        if not words:
            raise ValueError
        return words

    def from_line(self, line: str) -> Any:
        return line

    def encode(self, inputs: Iterable[Input], tokenizer: Tokenizer, max_tokens: int) -> Rows:
        """Notes: for each sequence the place of every word's first token, and the number of its first word."""
        tokenizer = limited(tokenizer, max_tokens)
        writer = Writer()
        for chunk in chunked(inputs):
            pieces = [
                (number, piece) for number, words in enumerate(chunk) for piece in _pieces(words, tokenizer, max_tokens)
            ]
            encodings = tokenizer.encode_batch([words for _, (_, words) in pieces], is_pretokenized=True)
            notes = [
                _note(first, words, encoding) for (_, (first, words)), encoding in zip(pieces, encodings, strict=True)
            ]
            writer.add(encodings, [number for number, _ in pieces], notes)
        return writer.done()

    def values(self, logits: np.ndarray, rows: Rows, inputs: Sequence[Input], labels: list[str]) -> list[Value]:
        outside = labels.index(OUTSIDE) if OUTSIDE in labels else 0
        found = self._by_word(logits.argmax(axis=1), rows, inputs, outside)
        return [[labels[number] for number in tags] for tags in found]

    def answers(self, logits: np.ndarray, rows: Rows, inputs: Sequence[Input], labels: list[str]) -> list[Prediction]:
        values = self.values(logits, rows, inputs, labels)
        sure = self._by_word(softmax(logits).max(axis=1), rows, inputs, 0.0)
        return [Prediction(list(words), tags, p.tolist()) for words, tags, p in zip(inputs, values, sure, strict=True)]

    def _by_word(self, per_token: np.ndarray, rows: Rows, inputs: Sequence[Input], without: Any) -> list[np.ndarray]:
        """What the first token of each word has; `without` for a word that has no token (a lone odd character)."""
        found = [np.full(len(words), without, dtype=per_token.dtype) for words in inputs]
        for number, (owner, (first, places)) in enumerate(zip(rows.owners, rows.notes, strict=True)):
            tokens = per_token[rows.ids.starts[number] : rows.ids.starts[number + 1]]
            real = places >= 0
            found[owner][first : first + len(places)][real] = tokens[places[real]]
        return found


def _pieces(words: Sequence[str], tokenizer: Tokenizer, max_tokens: int) -> Iterator[tuple[int, list[str]]]:
    """Stretches of words that fit, with the number of their first word. Most sentences are one stretch."""
    room = max_tokens - tokenizer.num_special_tokens_to_add(False)
    if sum(map(len, words)) <= room:  # a token has at least a character
        yield 0, list(words)
        return
    sizes = [
        max(1, len(e.ids))
        for e in tokenizer.encode_batch([[word] for word in words], is_pretokenized=True, add_special_tokens=False)
    ]
    first, used = 0, 0
    for number, size in enumerate(sizes):
        if used and used + size > room:
            yield first, list(words[first:number])
            first, used = number, 0
        used += size
    yield first, list(words[first:])


def _note(first: int, words: Sequence[str], encoding: Encoding) -> tuple[int, np.ndarray]:
    places = np.full(len(words), -1)
    for place, word in reversed(list(enumerate(encoding.word_ids))):
        if word is not None:
            places[word] = place
    return first, places
