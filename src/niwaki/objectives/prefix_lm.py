"""Prefix language modeling: the tokens behind a prefix are predicted from left to right, and the prefix is read in both directions.

The length of the prefix is drawn anew for each sequence and step. A prefix of one token is causal language modeling, and so the saved
model scores texts.

Papers: Liu et al. 2018 (arXiv 1801.10198); Raffel et al. 2020, T5 (arXiv 1910.10683); Dong et al. 2019, UniLM (arXiv 1905.03197).
Cost: that of causal language modeling, with fewer predicted tokens.
"""

from dataclasses import replace
from typing import ClassVar

import torch
from torch import Tensor

from niwaki.answers.likelihood import Scoring
from niwaki.core.settings import Settings, setting
from niwaki.models.forward import Batch
from niwaki.objectives._token_prediction import TokenPrediction
from niwaki.objectives.causal_lm import causal_batch


class PrefixSettings(Settings):
    longest: float = setting(
        1.0, "longest prefix, as a share of a sequence; lengths are uniform from one token on", gt=0, le=1
    )


class PrefixLanguageModeling(TokenPrediction):
    settings: ClassVar[type[Settings]] = PrefixSettings
    scoring: ClassVar[Scoring] = "causal"

    def batch(self, batch: Batch, generator: torch.Generator) -> Batch:
        assert isinstance(self.chosen, PrefixSettings)
        lengths = batch.mask.sum(dim=1)
        prefixes = drawn_prefixes(lengths, self.chosen.longest, generator)
        causal = causal_batch(batch, self.vocabulary)
        assert causal.predicted is not None
        places = torch.arange(batch.mask.shape[1], device=batch.mask.device)
        behind = places[None] >= prefixes[:, None] - 1  # the last token of the prefix predicts the first one behind it
        visible = prefix_mask(prefixes, batch.mask.shape[1])
        return replace(causal, predicted=causal.predicted & behind, causal=False, visible=visible)


def drawn_prefixes(lengths: Tensor, longest: float, generator: torch.Generator) -> Tensor:
    """For sequences of these lengths (batch,) prefixes from 1 token to `longest` of the sequence without its last token."""
    most = (longest * (lengths - 1)).long().clamp(min=1)
    return 1 + (torch.rand(len(lengths), generator=generator).to(lengths.device) * most).long().clamp(max=most - 1)


def prefix_mask(prefixes: Tensor, tokens: int) -> Tensor:
    """(batch, tokens, tokens): tokens attend to the prefix, and to no token behind themselves."""
    places = torch.arange(tokens, device=prefixes.device)
    return (places[None] <= places[:, None]) | (places < prefixes[:, None])[:, None]
