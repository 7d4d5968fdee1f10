"""The sense of each target word: among the senses of its lemma in an inventory, the one whose vector fits best.

An input is a list of words, with lemma and part of speech of the target words. In a plain sentence both are guessed: see
`_lemmas`. Long sentences are cut between words, like those of `tags`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from pydantic import PrivateAttr
from tokenizers import Tokenizer

from niwaki.answers._answer_type import Answer, AnswerType, Columns, EncodedInputs, Input, Value, check_text, softmax
from niwaki.answers._lemmas import WORD
from niwaki.answers._sense_inventory import TABLES, VECTORS_FILE, SenseInventory
from niwaki.answers._sense_inventory import labels as vector_labels
from niwaki.answers.tags import Tags
from niwaki.core.errors import InputError
from niwaki.core.json_types import Json
from niwaki.core.settings import setting
from niwaki.data.column_names import LEMMAS, POS, TOKENS, known, normalize
from niwaki.data.wordnet import lemma_of, pos_of

PARALLEL = 3  # tokens, lemmas, parts of speech


@dataclass(frozen=True)
class Target:
    """A target word. Without a part of speech all senses of the lemma are candidates."""

    word: int  # its place in the sentence
    lemma: str
    pos: str = ""
    sense_ranges: tuple[tuple[int, int], ...] = ()  # of candidates, where these are not the lemma's of `pos`


@dataclass(frozen=True)
class Sentence:
    words: list[str]
    targets: list[Target]


@dataclass(frozen=True)
class Prediction(Answer):
    """For each target word: its sense, the gloss, and its probability among the candidates."""

    words: list[str]
    senses: list[Json]  # {word, text, lemma, pos, sense, synset, gloss, probability, candidates}

    def __str__(self) -> str:
        """The words, each target word with its sense and the beginning of the gloss."""
        notes = {
            one["word"]: f"[{one['sense']} {meaning(one['gloss'])} {one['probability']:.2f}]" for one in self.senses
        }
        return " ".join(f"{word} {notes[place]}" if place in notes else word for place, word in enumerate(self.words))


def meaning(gloss: str) -> str:
    """A gloss without its examples, which stand in quotes."""
    return gloss.partition('; "')[0].strip()


class Senses(AnswerType):
    architecture: ClassVar[str] = "TokenClassification"
    per_token: ClassVar[bool] = True
    input_description: ClassVar[str] = "a string, a list of words, or a tuple of words, lemmas and parts of speech"

    prior_weight: float = setting(
        1.0, "what the scores by the senses' frequencies are multiplied by, tuned on validation rows", ge=0, le=1
    )

    _source: Callable[[], SenseInventory] | None = PrivateAttr(None)

    @classmethod
    def with_inventory(cls, source: Callable[[], SenseInventory]) -> "Senses":
        """With an inventory that is built when it is first used."""
        kind = cls()
        kind._source = source
        return kind

    @classmethod
    def required_files(cls, settings: Mapping[str, object]) -> tuple[str, ...]:
        return (*TABLES, VECTORS_FILE)

    def load_files(self, folder: Path, labels: list[str]) -> "Senses":
        sense_inventory = SenseInventory.from_folder(folder)
        expected = vector_labels(sense_inventory.vectors.codes.shape[1])
        if labels != expected:
            raise InputError(
                f"{folder}: the network gives {len(labels)} numbers at a word, the vectors of its senses have {len(expected)}; the files are not of one model"
            )
        kind = self.model_copy()
        kind._source = lambda: sense_inventory
        return kind

    def __eq__(self, other: object) -> bool:
        """By the settings, as other kinds are: what was opened is no part of them."""
        return type(self) is type(other) and self.to_json() == other.to_json()

    @property
    def sense_inventory(self) -> SenseInventory:
        if self._source is None:
            raise InputError("senses: the inventory was not loaded; open the kind with its model's folder")
        return self._source()

    # ── inputs ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def check(self, given: object) -> Input:
        if isinstance(given, Sentence):
            return given
        if isinstance(given, str):
            words = WORD.findall(check_text(given))
            return _guessed(self.sense_inventory.lemmas.joined(words), self.sense_inventory)
        if not isinstance(given, tuple | list):
            raise TypeError
        if isinstance(given, tuple) and len(given) == PARALLEL and not isinstance(given[0], str):
            return _given(given, self.sense_inventory)
        return _guessed([check_text(word) for word in given], self.sense_inventory)

    def from_line(self, line: str) -> Any:
        return line

    def columns(self, names: Sequence[str]) -> list[Columns]:
        """Words, lemmas and parts of speech, where all three are there; else words, or a text."""
        tokens, lemmas, parts = known(names, TOKENS), known(names, LEMMAS), known(names, POS)
        if len(tokens) == len(lemmas) == len(parts) == 1:
            return [[tokens[0], lemmas[0], parts[0]]]
        return [[name] for name in tokens] or super().columns(
            [name for name in names if normalize(name) not in LEMMAS | POS]
        )

    def encode(self, inputs: Iterable[Input], tokenizer: Tokenizer, max_tokens: int) -> EncodedInputs:
        """Notes as those of `tags`: the place of every word's first token, and the number of the first word."""
        return Tags().encode((one.words for one in inputs), tokenizer, max_tokens)

    # ── answers ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def values(
        self, logits: np.ndarray, rows: EncodedInputs, inputs: Sequence[Input], labels: list[str]
    ) -> list[Value]:
        """Sense keys, one for each target; None where the inventory has no sense of it."""
        if not inputs:
            return []
        keys = self.sense_inventory.keys
        found = iter(
            [
                keys[senses[int(chances.argmax())]] if len(senses) else None
                for senses, chances in self._judged(logits, rows, inputs)
            ]
        )
        return [[next(found) for _ in one.targets] for one in inputs]

    def answers(
        self, logits: np.ndarray, rows: EncodedInputs, inputs: Sequence[Input], labels: list[str]
    ) -> list[Prediction]:
        judged = self._judged(logits, rows, inputs)
        return [
            Prediction(one.words, [self._describe(one, target, *next(judged)) for target in one.targets])
            for one in inputs
        ]

    def confidence(
        self, logits: np.ndarray, rows: EncodedInputs, inputs: Sequence[Input], labels: list[str]
    ) -> np.ndarray:
        """The largest candidate probability of the least certain target word; 1 without target words."""
        judged = (chances for _, chances in self._judged(logits, rows, inputs))
        return np.array(
            [min([float(next(judged).max(initial=0.0)) or 1.0 for _ in one.targets], default=1.0) for one in inputs]
        )

    def same_outputs_as(self, other: AnswerType) -> bool:
        """Whether senses have the same numbers: inputs name candidates by them."""
        return isinstance(other, Senses) and self.sense_inventory.keys == other.sense_inventory.keys

    def _describe(self, sentence: Sentence, target: Target, senses: np.ndarray, chances: np.ndarray) -> Json:
        about = {"word": target.word, "text": sentence.words[target.word], "lemma": target.lemma, "pos": target.pos}
        if not len(senses):
            nothing = {"sense": None, "synset": None, "gloss": "", "probability": 0.0, "candidates": 0}
            return {**about, **nothing}
        place = int(chances.argmax())
        sense, sense_inventory = int(senses[place]), self.sense_inventory
        return {
            **about,
            "pos": sense_inventory.senses.column("pos")[sense].as_py(),
            "sense": sense_inventory.keys[sense],
            "synset": sense_inventory.synset_of(sense),
            "gloss": sense_inventory.gloss(sense),
            "probability": float(chances[place]),
            "candidates": len(senses),
        }

    def _judged(
        self, logits: np.ndarray, rows: EncodedInputs, inputs: Sequence[Input]
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Of each target its candidates and their probabilities. A word that has no token is judged by the order of senses."""
        places = tokens_of(rows, inputs)  # (targets,)
        candidates = [candidates_of(target, self.sense_inventory) for one in inputs for target in one.targets]
        starts = np.concatenate([[0], np.cumsum([len(one) for one in candidates], dtype=np.int64)])
        if not candidates:
            return
        owners = np.repeat(places, np.diff(starts))
        pairs = np.concatenate(candidates)
        found = self.sense_inventory.scores(logits, np.maximum(owners, 0), pairs, self.prior_weight)
        scores = np.where(owners >= 0, found, 0.0)
        for senses, (first, last), place in zip(candidates, pairwise(starts), places, strict=True):
            chances = softmax(scores[first:last]) if last > first else np.zeros(0)
            yield senses, chances if place >= 0 or not len(chances) else np.eye(1, len(chances))[0]


def candidates_of(target: Target, inventory: SenseInventory) -> np.ndarray:
    """The numbers of the senses that compete."""
    sense_ranges = target.sense_ranges or (inventory.candidates(target.lemma, target.pos),)
    return np.concatenate([np.arange(first, last) for first, last in sense_ranges])


def tokens_of(rows: EncodedInputs, inputs: Sequence[Input]) -> np.ndarray:
    """(targets of all inputs,): the first token of each, counted over the tokens of all sequences; -1 for one that has none."""
    firsts = [np.full(len(one.words), -1, dtype=np.int64) for one in inputs]
    for sequence, (owner, (first, places)) in enumerate(zip(rows.input_index, rows.metadata, strict=True)):
        real = places >= 0
        firsts[owner][first : first + len(places)][real] = rows.ids.starts[sequence] + places[real]
    return np.array(
        [firsts[number][target.word] for number, one in enumerate(inputs) for target in one.targets], dtype=np.int64
    )


def _guessed(words: list[str], inventory: SenseInventory) -> Sentence:
    """Every word that can be a form of a lemma is a target; its lemmas and parts of speech are guessed."""
    if not words:
        raise ValueError
    targets = []
    for place, word in enumerate(words):
        found = inventory.lemmas.of_text(word)
        if found:
            sense_ranges = tuple(inventory.candidates(lemma, pos) for lemma, pos in found)
            targets.append(Target(place, " ".join(dict.fromkeys(lemma for lemma, _ in found)), "", sense_ranges))
    return Sentence(words, targets)


def _given(parallel: tuple[Any, ...], inventory: SenseInventory) -> Sentence:
    """From parallel lists of words, lemmas and parts of speech. A word without a lemma, or whose part of speech has no senses (DET), is no target."""
    lists = [[] if cells is None else list(cells) for cells in parallel]
    if isinstance(parallel[1], str) or len({len(cells) for cells in lists}) != 1 or not lists[0]:
        raise TypeError if lists[0] else ValueError
    targets = [
        Target(place, lemma_of(check_text(lemma)), pos)
        for place, (lemma, part) in enumerate(zip(lists[1], lists[2], strict=True))
        if lemma and part and (pos := pos_of(part)) and inventory.lemmas.has(lemma_of(check_text(lemma)), pos)
    ]
    return Sentence([check_text(word) for word in lists[0]], targets)
