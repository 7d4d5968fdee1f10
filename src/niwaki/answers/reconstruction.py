"""How likely an encoder-decoder finds what noise hides of a text. The same text always gets the same noise.

The answer is the log-likelihood of the tokens that are generated, which are the hidden parts or the whole text
(`tokenization/span_noise.py`, `tokenization/text_noise.py`).
"""

from collections.abc import Iterable, Sequence
from typing import ClassVar

import numpy as np
from pydantic import field_validator
from tokenizers import Tokenizer

from niwaki.answers._answer_type import (
    AnswerType,
    EncodedInputs,
    EncodedInputsBuilder,
    Input,
    Value,
    chunked,
    with_truncation,
)
from niwaki.answers._beam_search import SearchSettings
from niwaki.answers._forced_decoding import LABELS
from niwaki.answers._one_text import OneText
from niwaki.answers.likelihood import Prediction, Reading
from niwaki.core.seeds import numpy_generator
from niwaki.core.settings import setting
from niwaki.data.ragged import RaggedWriter
from niwaki.tokenization.noise import NOISES, Noise
from niwaki.tokenization.noise_tokens import NoiseTokens
from niwaki.tokenization.tokenizing import encode_batch


class Reconstruction(OneText):
    noise: str = setting("spans", "how a text is changed before it is read")
    rate: float = setting(0.15, "share of its tokens that are changed", gt=0, lt=1)
    mean_span: float = setting(3.0, "mean length of changed spans in tokens", gt=0, le=1000)
    start: int = setting(0, "token in front of the generated ones", ge=0)
    end: int = setting(2, "token that ends generated texts", ge=0)

    architecture: ClassVar[str] = "ConditionalGeneration"

    @field_validator("noise")
    @classmethod
    def _is_known(cls, name: str) -> str:
        if name not in NOISES:
            raise ValueError(f"is not one of {', '.join(NOISES)}")
        return name

    @property
    def search(self) -> SearchSettings:
        return SearchSettings(start=self.start, end=self.end, suppress_tokens=())

    def encode(self, inputs: Iterable[Input], tokenizer: Tokenizer, max_tokens: int) -> EncodedInputs:
        """Noisy texts, and in the array `labels` what is generated of them."""
        tokenizer = with_truncation(tokenizer, max_tokens)
        known, noise = NoiseTokens.of(tokenizer), Noise(self.noise, self.rate, self.mean_span)
        builder, targets = EncodedInputsBuilder(), RaggedWriter(np.int32)
        for chunk in chunked(inputs):
            sequences = [np.array(one.ids, dtype=np.int64) for one in encode_batch(tokenizer, chunk, fast=True)]
            pairs = [noise.corrupt(ids, known, numpy_generator(0, ids.tobytes().hex())) for ids in sequences]
            builder.add([Reading(read.tolist(), [0] * len(read)) for read, _ in pairs])
            targets.add([generated.tolist() for _, generated in pairs])
        found = builder.done()
        return EncodedInputs({**found.arrays, LABELS: targets.done()}, found.input_index, found.metadata)

    def values(
        self, logits: np.ndarray, rows: EncodedInputs, inputs: Sequence[Input], labels: list[str]
    ) -> list[Value]:
        """For each text: [[log-likelihood, tokens]]."""
        counts = rows.arrays[LABELS].lengths
        return [[[float(one), int(count)]] for one, count in zip(logits[:, 0], counts, strict=True)]

    def answers(
        self, logits: np.ndarray, rows: EncodedInputs, inputs: Sequence[Input], labels: list[str]
    ) -> list[Prediction]:
        return [Prediction(*text) for (text,) in self.values(logits, rows, inputs, labels)]

    def same_outputs_as(self, other: AnswerType) -> bool:
        return self.model_dump() == other.model_dump()

    def same(self, first: Value, second: Value) -> bool:
        return all(abs(a - b) <= 0.01 * max(1, tokens) for (a, tokens), (b, _) in zip(first, second, strict=True))
