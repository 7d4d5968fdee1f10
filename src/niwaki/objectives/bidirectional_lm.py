"""Bidirectional language modeling: two causal models read a text from both ends and predict the same tokens.

Each predicts a token from what lies on its own side. The loss is the mean over both; they share the token table and the output matrix.

Paper: Peters et al. 2018, Deep contextualized word representations (ELMo, arXiv 1802.05365).
"""

from typing import ClassVar

import torch
from torch import Tensor
from torch.nn import functional

from niwaki.answers.likelihood import DIRECTIONS, Scoring
from niwaki.models.forward import Batch, Outputs
from niwaki.objectives._token_prediction import TokenPrediction, predicted_tokens
from niwaki.objectives.causal_lm import causal_batch


class BidirectionalLanguageModeling(TokenPrediction):
    scoring: ClassVar[Scoring] = "bidirectional"
    directions: ClassVar[int] = DIRECTIONS

    def batch(self, batch: Batch, generator: torch.Generator) -> Batch:
        return causal_batch(batch, self.vocabulary)

    def token_loss(self, outputs: Outputs, batch: Batch) -> Tensor:
        return both_ways(outputs.logits.float(), predicted_tokens(batch))


def both_ways(logits: Tensor, targets: Tensor) -> Tensor:
    """(predicted, 2 × vocabulary) and the tokens (predicted,): the mean cross-entropy over tokens and directions; 0 without any."""
    each = logits.unflatten(-1, (DIRECTIONS, -1)).flatten(0, 1)  # (predicted × 2, vocabulary)
    wanted = targets.repeat_interleave(DIRECTIONS)
    return functional.cross_entropy(each, wanted, reduction="sum") / max(1, len(wanted))
