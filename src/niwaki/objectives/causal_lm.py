"""Causal language modeling: every token is predicted from those before it.

Paper: Radford et al. 2018, Improving Language Understanding by Generative Pre-Training. The network attends to earlier tokens only; a
head for a task that is put on it later reads whole texts.
"""

from dataclasses import replace
from typing import ClassVar

import torch

from niwaki.answers.likelihood import Scoring
from niwaki.models.forward import Batch
from niwaki.objectives._masking import Vocabulary
from niwaki.objectives._token_prediction import TokenPrediction, before, next_tokens, ordinary_tokens


class CausalLanguageModeling(TokenPrediction):
    scoring: ClassVar[Scoring] = "causal"

    def batch(self, batch: Batch, generator: torch.Generator) -> Batch:
        return causal_batch(batch, self.vocabulary)


def causal_batch(batch: Batch, vocabulary: Vocabulary) -> Batch:
    """Every token that is not special is predicted at the place before it."""
    predicted = before(ordinary_tokens(batch, vocabulary))
    return replace(batch, targets=next_tokens(batch.inputs["input_ids"]), predicted=predicted, causal=True)
