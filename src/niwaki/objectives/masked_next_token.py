"""Masked next-token prediction, mixed with causal language modeling: one network learns both.

A masked token is predicted at the place before it, as a causal model predicts it, while attention sees the whole text. Some batches are
causal instead, so that the saved model scores texts either way.

Paper: Charpentier and Samuel 2024, GPT or BERT: why not both? (arXiv 2410.24159).
"""

from dataclasses import replace
from typing import ClassVar, Literal

import torch

from niwaki.answers.likelihood import Scoring
from niwaki.core.settings import Settings, setting
from niwaki.models.forward import Batch
from niwaki.models.model import Model
from niwaki.objectives._masking import MaskingSettings, mask_batch, require_mask
from niwaki.objectives._token_prediction import TokenPrediction, before, next_tokens
from niwaki.objectives.causal_lm import causal_batch


class MaskedNextTokenSettings(MaskingSettings):
    causal: float = setting(0.5, "share of batches that are causal", ge=0, le=1)
    deploy: Literal["causal", "masked_next"] = setting("causal", "how the saved model attends and scores texts")


class MaskedNextToken(TokenPrediction):
    settings: ClassVar[type[Settings]] = MaskedNextTokenSettings

    @property
    def scoring(self) -> Scoring:  # type: ignore[override]
        return self._settings.deploy

    @property
    def _settings(self) -> MaskedNextTokenSettings:
        assert isinstance(self.chosen, MaskedNextTokenSettings)
        return self.chosen

    def prepare(self, model: Model, seed: int = 0) -> None:
        super().prepare(model, seed)
        require_mask(self.vocabulary)

    def batch(self, batch: Batch, generator: torch.Generator) -> Batch:
        if torch.rand((), generator=generator) < self._settings.causal:
            return causal_batch(batch, self.vocabulary)
        noisy, chosen = mask_batch(batch, self.vocabulary, self._settings, generator)
        targets = next_tokens(batch.inputs["input_ids"])
        inputs = {**batch.inputs, "input_ids": noisy}
        return replace(batch, inputs=inputs, targets=targets, predicted=before(chosen), causal=False)
