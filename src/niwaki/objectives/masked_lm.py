"""Masked language modeling: some tokens are hidden and predicted from all others.

Paper: Devlin et al. 2019, BERT (arXiv 1810.04805): 15 % of the tokens, of which 80 % are masked, 10 % replaced by random tokens and
10 % left as they are. Masks are drawn anew at each step (Liu et al. 2019, RoBERTa, arXiv 1907.11692) unless `dynamic` is false. Whole
words are masked as in later BERT models, spans as in SpanBERT (Joshi et al. 2020, arXiv 1907.10529).
"""

from dataclasses import replace
from typing import ClassVar

import torch

from niwaki.answers.likelihood import Scoring
from niwaki.core.settings import Settings
from niwaki.models.forward import Batch
from niwaki.models.model import Model
from niwaki.objectives._masking import MaskingSettings, mask_batch, require_mask
from niwaki.objectives._token_prediction import TokenPrediction


class MaskedLanguageModeling(TokenPrediction):
    settings: ClassVar[type[Settings]] = MaskingSettings
    scoring: ClassVar[Scoring] = "masked"

    def prepare(self, model: Model, seed: int = 0) -> None:
        super().prepare(model, seed)
        require_mask(self.vocabulary)

    def batch(self, batch: Batch, generator: torch.Generator) -> Batch:
        assert isinstance(self.chosen, MaskingSettings)
        noisy, chosen = mask_batch(batch, self.vocabulary, self.chosen, generator)
        inputs = {**batch.inputs, "input_ids": noisy}
        return replace(batch, inputs=inputs, targets=batch.inputs["input_ids"], predicted=chosen, causal=False)
