"""A model and the input that is looked at: encoded, answered, and with a network in torch where the folder has one."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from niwaki.answers._answer_type import AnswerType, EncodedInputs, Input
from niwaki.answers._capabilities import ReducesLogits
from niwaki.answers.label import Label
from niwaki.answers.likelihood import Likelihood
from niwaki.data.batching import sorted_batches
from niwaki.engines.predictor import Predictor
from niwaki.evaluate.looking.one_input import OneInput
from niwaki.evaluate.looking.reading import NO_WORD, Reading, reading_of
from niwaki.models.features import Features
from niwaki.models.forward import Batch, forward
from niwaki.models.model import Model
from niwaki.train.collator import Collator

ROWS, TOKENS = 32, 4096  # of a batch


@dataclass(frozen=True)
class Subject:
    """`kind` is the name of the answer type; of language models `fill` for a text with masks, else `next` or `tokens`. Without `model`,
    `no_model` says why."""

    predictor: Predictor
    model: Model | None
    no_model: str
    given: Input
    kind: str

    @property
    def answer_type(self) -> AnswerType:
        """What encodes the input. The likelihood of a text needs several sequences; its tokens need one."""
        own = self.predictor.answer_type
        return Label() if isinstance(own, Likelihood) else own

    def encode(self, inputs: Sequence[Input]) -> EncodedInputs:
        if self.answer_type is not self.predictor.answer_type:
            return self.answer_type.encode(inputs, self.predictor.encoder.tokenizer, self.predictor.max_tokens)
        return self.predictor.tokenize(inputs)

    @cached_property
    def encoded(self) -> EncodedInputs:
        return self.encode([self.given])

    @cached_property
    def sequence(self) -> int:
        """The sequence that is looked at: of a choice that of the chosen ending, else the first."""
        return int(np.argmax([float(one[0]) for one in self.logits])) if self.kind == "choice" else 0

    @cached_property
    def reading(self) -> Reading:
        encoder = self.predictor.encoder
        return reading_of(
            self.answer_type, self.given, self.encoded, self.sequence, encoder.tokenizer, encoder.max_tokens
        )

    def one_input(self, sequence: int) -> OneInput:
        assert self.model is not None
        ids, types = (rows[sequence].astype(np.int64) for rows in (self.encoded.ids, self.encoded.types))
        special = np.isin(ids, self._special_ids)
        if sequence == self.sequence and self.reading.words:
            special = np.array([word == NO_WORD for word in self.reading.word_of])
            special |= ids == getattr(self.predictor.answer_type, "mask_token_id", -1)
        return OneInput(self.model, ids, types, special)

    @cached_property
    def one(self) -> OneInput:
        return self.one_input(self.sequence)

    @property
    def _special_ids(self) -> list[int]:
        known = self.predictor.encoder.tokenizer.get_added_tokens_decoder()
        return [number for number, token in known.items() if token.special]

    @cached_property
    def logits(self) -> list[Tensor]:
        return self.logits_of(self.encoded)

    @property
    def no_logits(self) -> str:
        if self.model is None and isinstance(self.answer_type, ReducesLogits):
            return self.no_model
        return "the model generates text" if self.predictor.runtime.generates else ""

    @torch.no_grad()
    def logits_of(self, encoded: EncodedInputs) -> list[Tensor]:
        """For each sequence (labels,), or (its tokens, labels)."""
        if self.model is None:
            found = torch.from_numpy(self.predictor.logits(encoded))
            return list(found.split(encoded.ids.lengths.tolist()) if self.answer_type.per_token else found)
        collator, nothing = Collator(Features(encoded, np.zeros(0)), self.model, torch.device("cpu")), torch.zeros(0)
        logits: dict[int, Tensor] = {}
        for places in sorted_batches(encoded.ids.lengths, ROWS, TOKENS):
            batch = Batch(collator.inputs(places), nothing, nothing)
            found = forward(self.model.anatomy, batch).logits
            for place, row, count in zip(places, found, batch.mask.sum(dim=1), strict=True):
                logits[int(place)] = row[: int(count)] if row.ndim > 1 else row
        return [logits[place] for place in range(len(logits))]

    @property
    def mask(self) -> str:
        """The mask token of a masked language model."""
        return str(
            self.predictor.encoder.tokenizer.id_to_token(getattr(self.predictor.answer_type, "mask_token_id", -1))
        )

    def name(self, token: int) -> str:
        return str(self.predictor.encoder.tokenizer.decode([token], skip_special_tokens=False)).strip()

    @property
    def labels(self) -> list[str]:
        return self.predictor.labels
