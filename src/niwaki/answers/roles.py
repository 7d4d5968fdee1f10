"""Who did what to whom: the predicates of a sentence, the sense of each, and its arguments with their roles.

One head serves both passes. For a sentence alone it tags predicates: each word is `P` or `O`. For a sentence with a marked
predicate it tags roles, `B-ARG0`, `I-ARG0`, …, and the sense of the predicate, `S-01`. A plain sentence takes two passes.

The mark is a separator on either side of the predicate, and token type 1 for families that have types: networks without types
can learn from a teacher that has them, since both read the same tokens.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, ClassVar

import numpy as np
from tokenizers import Tokenizer

from niwaki.answers._answer_type import (
    Answer,
    AnswerType,
    Columns,
    EncodedInputs,
    EncodedInputsBuilder,
    Input,
    Value,
    chunked,
    softmax,
)
from niwaki.answers._predicate_marking import Marker
from niwaki.answers._viterbi import TagDecoder
from niwaki.answers.tags import OUTSIDE, check_words
from niwaki.core.settings import setting
from niwaki.data.column_names import TOKENS, known
from niwaki.tokenization.tokenizing import encode_batch

IS_PREDICATE, SENSE = "P", "S-"
LabelledSpan = tuple[str, int, int]  # label, first word, the word after the last
Frame = dict[str, Any]


@dataclass(frozen=True)
class Prediction(Answer):
    words: list[str]
    frames: list[
        Frame
    ]  # of each predicate: `predicate`, its word's number; `roleset`; `arguments`, with label, start, end

    def __str__(self) -> str:
        return " | ".join(shown(self.words, frame) for frame in self.frames) or " ".join(self.words)


class Roles(AnswerType):
    rolesets: str = setting(
        "", "a line for each word known as a predicate: the word, then its rolesets, commonest first"
    )

    architecture: ClassVar[str] = "TokenClassification"
    per_token: ClassVar[bool] = True
    input_description: ClassVar[str] = (
        "a string, a list of words, or one of these and the number of its predicate's word, from 0"
    )

    def check(self, given: object) -> Input:
        if not isinstance(given, tuple):
            return check_words(given)
        if len(given) != 2 or isinstance(given[1], bool) or not isinstance(given[1], int):
            raise TypeError
        words = check_words(given[0])
        if not 0 <= given[1] < len(words):
            raise TypeError
        return words, given[1]

    def from_line(self, line: str) -> Any:
        """A sentence; after a tab, the number of its predicate's word."""
        text, _, number = line.rpartition("\t")
        return (text, int(number)) if text and number.isascii() and number.isdigit() else line

    def columns(self, names: Sequence[str]) -> list[Columns]:
        return [[name] for name in known(names, TOKENS)] or super().columns(names)

    def encode(self, inputs: Iterable[Input], tokenizer: Tokenizer, max_tokens: int) -> EncodedInputs:
        """Notes: of each sequence the number of its first word, the place of every word's first token, and the number of
        the predicate's word, -1 without one. A long sentence is cut between words; with a predicate, it is the words around that."""
        marker, builder = Marker(tokenizer, max_tokens), EncodedInputsBuilder()
        for chunk in chunked(inputs):
            sentences = [split(given) for given in chunk]
            encodings = encode_batch(marker.whole, [words for words, _ in sentences], is_pretokenized=True)
            sequences, input_index, metadata = [], [], []
            for owner, ((words, predicate), encoding) in enumerate(zip(sentences, encodings, strict=True)):
                for tokens, about in marker.sequences(words, predicate, encoding):
                    sequences.append(tokens)
                    input_index.append(owner)
                    metadata.append(about)
            builder.add(sequences, input_index, metadata)
        return builder.done()

    def values(
        self, logits: np.ndarray, rows: EncodedInputs, inputs: Sequence[Input], labels: list[str]
    ) -> list[Value]:
        """A tag for every word."""
        found = [[OUTSIDE] * len(split(given)[0]) for given in inputs]
        for owner, first, numbers, _ in self._tagged(logits, rows, inputs, labels):
            found[owner][first : first + len(numbers)] = [labels[number] for number in numbers]
        return found

    def answers(
        self, logits: np.ndarray, rows: EncodedInputs, inputs: Sequence[Input], labels: list[str]
    ) -> list[Prediction]:
        found = [Prediction(list(split(given)[0]), []) for given in inputs]
        for owner, first, numbers, scores in self._tagged(logits, rows, inputs, labels):
            words, predicate = split(inputs[owner])
            tags = [labels[number] for number in numbers]
            if predicate is None:
                found[owner].frames.extend(
                    {"predicate": first + at} for at, tag in enumerate(tags) if tag == IS_PREDICATE
                )
            else:
                sure = softmax(scores)[np.arange(len(numbers)), numbers]
                roleset = self.roleset(words[predicate], tags[predicate - first])
                found[owner].frames.append(frame_of(tags, sure, first, predicate, roleset))
        return found

    def confidence(
        self, logits: np.ndarray, rows: EncodedInputs, inputs: Sequence[Input], labels: list[str]
    ) -> np.ndarray:
        """The probability of its tag at the least sure word, among the tags that compete; a word without a token does not count."""
        found = np.ones(len(inputs))
        tagged = zip(rows.metadata, self._tagged(logits, rows, inputs, labels), strict=True)
        for (_, places, _), (owner, _, numbers, scores) in tagged:
            sure = softmax(scores)[np.arange(len(numbers)), numbers]
            found[owner] = sure[places >= 0].min(initial=found[owner])
        return found

    def second_pass_inputs(self, answers: Sequence[Prediction]) -> list[Input]:
        """One input for every predicate without a roleset."""
        return [(one.words, frame["predicate"]) for one in answers for frame in one.frames if "roleset" not in frame]

    def merge_second_pass(self, answers: Sequence[Prediction], others: Sequence[Prediction]) -> list[Prediction]:
        rest = iter(others)
        return [
            Prediction(one.words, [frame if "roleset" in frame else next(rest).frames[0] for frame in one.frames])
            for one in answers
        ]

    def roleset(self, word: str, sense: str) -> str:
        """`sit.01` of `sat` and `S-01`; of a word that no train row has as a predicate, the word itself and the number."""
        number = sense.removeprefix(SENSE)
        known_as = (one for one in rolesets_of(self.rolesets).get(word.lower(), ()) if number_of(one) == number)
        return next(known_as, f"{word.lower()}.{number}")

    def _tagged(
        self, logits: np.ndarray, rows: EncodedInputs, inputs: Sequence[Input], labels: list[str]
    ) -> Iterator[tuple[int, int, np.ndarray, np.ndarray]]:
        """Of each sequence its input, its first word, the tags of its words, and the scores (words, labels) they were chosen by."""
        modes = modes_of(tuple(labels))
        for sequence, (owner, (first, places, predicate)) in enumerate(
            zip(rows.input_index, rows.metadata, strict=True)
        ):
            tokens = logits[rows.ids.starts[sequence] : rows.ids.starts[sequence + 1]]
            scores = np.where(places[:, None] >= 0, tokens[places], 0)  # a word that has no token may have any tag
            if predicate < 0:
                scores = scores + modes.finding
                yield owner, first, scores.argmax(axis=1), scores
            else:
                at = predicate - first
                scores = scores + modes.labelling
                scores[at] = tokens[places[at]] + modes.senses(self._known_senses(split(inputs[owner])[0][predicate]))
                yield owner, first, modes.paths.best(scores), scores

    def _known_senses(self, word: str) -> tuple[str, ...]:
        """Those that the train rows have of a word; only they compete."""
        return tuple(f"{SENSE}{number_of(one)}" for one in rolesets_of(self.rolesets).get(word.lower(), ()))


class Modes:
    """Which labels compete: 0 for those, -inf for others."""

    def __init__(self, labels: Sequence[str]) -> None:
        self.labels = labels
        self.paths = TagDecoder(labels)
        self.finding = self._among({OUTSIDE, IS_PREDICATE})
        self.labelling = self._among({label for label in labels if label[:2] in ("B-", "I-")} | {OUTSIDE})
        self._senses = cache(self._sense_mask)

    def senses(self, some: tuple[str, ...]) -> np.ndarray:
        return self._senses(some)

    def _sense_mask(self, some: tuple[str, ...]) -> np.ndarray:
        there = {label for label in self.labels if label.startswith(SENSE)}
        return self._among(there & set(some) or there or {OUTSIDE})

    def _among(self, allowed: set[str]) -> np.ndarray:
        return np.where([label in allowed for label in self.labels], 0.0, -np.inf)


modes_of = lru_cache(8)(Modes)


@lru_cache(8)
def number_of(roleset: str) -> str:
    """`01` of `sit.01`."""
    return roleset.rpartition(".")[2]


def rolesets_of(text: str) -> dict[str, list[str]]:
    """Word → its rolesets, from lines of words with spaces between."""
    return {word: rolesets for word, *rolesets in (line.split() for line in text.splitlines() if line.strip())}


def split(given: Input) -> tuple[Sequence[str], int | None]:
    """Words, and the number of the predicate's where there is one."""
    return given if isinstance(given, tuple) else (given, None)


def labelled_spans(tags: Sequence[str]) -> list[LabelledSpan]:
    """Of B-X and I-X; an I-X that goes on with nothing begins a stretch of its own."""
    found: list[LabelledSpan] = []
    for place, tag in enumerate(tags):
        letter, label = tag[:2], tag[2:]
        if letter == "I-" and found and found[-1][0] == label and found[-1][2] == place:
            found[-1] = (label, found[-1][1], place + 1)
        elif letter in ("B-", "I-"):
            found.append((label, place, place + 1))
    return found


def frame_of(tags: Sequence[str], sure: np.ndarray, first: int, predicate: int, roleset: str) -> Frame:
    """`sure`: the probability of each word's tag; that of an argument is the least of its words'."""
    arguments = [
        {"label": label, "start": first + start, "end": first + end, "probability": float(sure[start:end].min())}
        for label, start, end in labelled_spans(tags)
    ]
    return {
        "predicate": predicate,
        "roleset": roleset,
        "probability": float(sure[predicate - first]),
        "arguments": arguments,
    }


def shown(words: Sequence[str], frame: Frame) -> str:
    """`[ARG0 The cat] [V sat: sit.01] [ARGM-LOC on the mat]`; words that have no role stand as they are."""
    starts = {one["start"]: one for one in frame.get("arguments", ())}
    parts, at = [], 0
    while at < len(words):
        if at == frame["predicate"]:
            parts.append(f"[V {words[at]}: {frame.get('roleset', '?')}]")
            at += 1
        elif at in starts:
            parts.append(f"[{starts[at]['label']} {' '.join(words[at : starts[at]['end']])}]")
            at = starts[at]["end"]
        else:
            parts.append(words[at])
            at += 1
    return " ".join(parts)
