"""Noise for encoder-decoders: what the encoder reads and the decoder generates of a sequence, by the name of the noise."""

from dataclasses import dataclass

import numpy as np

from niwaki.tokenization.noise_tokens import NoiseTokens
from niwaki.tokenization.span_noise import SPAN_NOISES
from niwaki.tokenization.text_noise import TEXT_NOISES

NOISES = (*SPAN_NOISES, *TEXT_NOISES)


@dataclass(frozen=True)
class Noise:
    name: str
    rate: float  # share of tokens that are hidden or changed
    mean_span: float  # tokens

    def corrupt(self, ids: np.ndarray, known: NoiseTokens, draw: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """A sequence with its special tokens to what is read and what is generated, both with special tokens."""
        body = known.body(ids)
        if self.name in TEXT_NOISES:
            return known.whole(TEXT_NOISES[self.name](body, self.rate, self.mean_span, known, draw)), ids
        hide, divide = SPAN_NOISES[self.name]
        read, generated = divide(body, hide(len(body), self.rate, self.mean_span, draw), known.sentinels)
        return known.whole(read), known.whole(generated)
