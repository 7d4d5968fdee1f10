"""The likeliest tokens at the masks of a text (fill-mask), as a language model that reads both directions predicts them.

Several masks of a text are predicted at once, each without knowing what the others become, as transformers' pipeline does.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from pydantic import PrivateAttr
from tokenizers import Encoding, Tokenizer

from niwaki.answers._answer_type import (
    Answer,
    AnswerType,
    EncodedInputs,
    EncodedInputsBuilder,
    Input,
    InvalidText,
    check_text,
    chunked,
    softmax,
    with_truncation,
)
from niwaki.answers.likelihood import ONE_PASS, Likelihood
from niwaki.core.errors import InputError
from niwaki.core.json_types import Json
from niwaki.core.settings import check, setting
from niwaki.tokenization.tokenizing import encode_batch

BLANK = r"_{3,}|\[MASK\]|<mask>"  # what users may write for the mask token of any tokenizer


@dataclass(frozen=True)
class Candidate:
    token: str
    id: int
    probability: float
    text: str  # the whole text with this token at its mask; other masks stay


@dataclass(frozen=True)
class Filled(Answer):
    masks: list[list[Candidate]]  # for each mask of the text, the likeliest first

    def __str__(self) -> str:
        return " | ".join(", ".join(f"{one.token} {one.probability:.3f}" for one in found) for found in self.masks)

    def record(self) -> Json:
        return {"masks": [[vars(candidate) for candidate in found] for found in self.masks]}


class Masks(NamedTuple):
    """A sequence and what is read of it."""

    ids: list[int]
    type_ids: list[int]
    masks: list[int]  # places of the masks
    places: list[int]  # of the logits that are read


class Fill(AnswerType):
    scoring: str = setting("masked", "how the model predicts a token")
    mask_token_id: int = setting(..., "id of the mask token", ge=0)
    top: int = setting(5, "candidates for each mask", ge=1, le=10_000)

    architecture: ClassVar[str] = "MaskedLM"
    per_token: ClassVar[bool] = True
    input_description: ClassVar[str] = "a string"

    _tokenizer: Tokenizer = PrivateAttr()
    _blank: re.Pattern[str] = PrivateAttr()

    @classmethod
    def of(cls, likelihood: Likelihood, tokenizer: Tokenizer, vocabulary_size: int, top: int) -> "Fill":
        """As a language model with this tokenizer fills masks."""
        if likelihood.scoring in ONE_PASS:
            raise InputError(
                f"fill: the model scores tokens without masks ({likelihood.scoring}); take a masked language model, or continue texts with `niwaki sample`"
            )
        mask = tokenizer.id_to_token(likelihood.mask_token_id) if likelihood.mask_token_id >= 0 else None
        if mask is None:
            raise InputError("fill: the model's tokenizer has no mask token")
        known = {"scoring": likelihood.scoring, "mask_token_id": likelihood.mask_token_id}
        found = check(cls, {**known, "top": min(top, vocabulary_size)}, "fill")
        found._tokenizer, found._blank = tokenizer, re.compile(f"{BLANK}|{re.escape(mask)}")
        return found

    def check(self, given: object) -> Input:
        text = check_text(given)
        if not self._blank.search(text):
            raise InvalidText("has no mask; write ___ or [MASK] where a token is missing")
        return text

    def from_line(self, line: str) -> Input:
        return line

    def encode(self, inputs: Iterable[Input], tokenizer: Tokenizer, max_tokens: int) -> EncodedInputs:
        """Metadata: `Masks` of each text."""
        tokenizer, builder = with_truncation(tokenizer, max_tokens), EncodedInputsBuilder()
        mask = str(tokenizer.id_to_token(self.mask_token_id))
        for chunk in chunked(inputs):
            texts = [self._blank.sub(lambda _: mask, text) for text in chunk]
            found = [self._masks(encoding, max_tokens) for encoding in encode_batch(tokenizer, texts, fast=True)]
            builder.add(found, metadata=found)
        return builder.done()

    def _masks(self, encoding: Encoding, max_tokens: int) -> Masks:
        first = int(self.scoring != "masked")  # others predict a token at the place before it
        masks = [at for at, token in enumerate(encoding.ids) if token == self.mask_token_id and at >= first]
        if not masks:
            raise InputError(f"fill: a text has no mask among its first {max_tokens} tokens; shorten it")
        return Masks(encoding.ids, encoding.type_ids, masks, [at - first for at in masks])

    def reduce(self, logits: np.ndarray, rows: EncodedInputs, sequences: np.ndarray) -> np.ndarray:
        """(sequences, masks × 2 × top): ids of the likeliest tokens and their probabilities; 0 for masks that a text lacks."""
        most = max(len(note.places) for note in rows.metadata)
        found = np.zeros((len(sequences), most, 2, self.top), dtype=np.float64)
        starts = np.cumsum(rows.ids.lengths[sequences]) - rows.ids.lengths[sequences]
        for number, (start, sequence) in enumerate(zip(starts, sequences, strict=True)):
            places = rows.metadata[sequence].places
            found[number, : len(places)] = likeliest(logits[start + np.array(places)], self.top)
        return found.reshape(len(sequences), -1)

    def answers(
        self, logits: np.ndarray, rows: EncodedInputs, inputs: Sequence[Input], labels: list[str]
    ) -> list[Filled]:
        return [self._filled(note, numbers) for note, numbers in zip(rows.metadata, logits, strict=True)]

    def _filled(self, note: Masks, numbers: np.ndarray) -> Filled:
        each = numbers.reshape(-1, 2, self.top)
        return Filled(
            [
                [self._candidate(note, at, int(token), float(share)) for token, share in zip(*found, strict=True)]
                for at, found in zip(note.masks, each, strict=False)
            ]
        )

    def _candidate(self, note: Masks, at: int, token: int, probability: float) -> Candidate:
        decode = self._tokenizer.decode
        ids = [*note.ids[:at], token, *note.ids[at + 1 :]]
        if len(note.masks) > 1:  # special tokens are left out, but not the other masks
            special = {number for number, added in self._tokenizer.get_added_tokens_decoder().items() if added.special}
            ids = [one for one in ids if one == self.mask_token_id or one not in special]
        text = decode(ids, skip_special_tokens=len(note.masks) == 1)
        return Candidate(decode([token], skip_special_tokens=False), token, probability, text)


def likeliest(logits: np.ndarray, top: int) -> np.ndarray:
    """(rows, vocabulary) to (rows, 2, top): the likeliest tokens and their probabilities; ties in the order of ids."""
    probabilities = softmax(logits)
    ids = np.argsort(-probabilities, axis=-1, kind="stable")[:, :top]
    return np.stack([ids.astype(np.float64), np.take_along_axis(probabilities, ids, axis=-1)], axis=1)
