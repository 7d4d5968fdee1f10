"""Permutation language modeling: some tokens are predicted in random order, each from the context and those before it in the order.

Two-stream attention without a second network: behind the tokens of a sequence (the content stream) stands a mask token for each predicted
one, at its position (the query stream). Queries attend to the context and to predicted tokens of lower rank, and nothing attends to queries.
Context tokens, which are not predicted, attend to each other alone. Both streams share all weights, as in XLNet.

The positions are the network's own. XLNet's relative positions and its memory of the segments before are not part of this. The saved
model scores texts as a masked language model does, which is close to a query but not the same: other tokens attend to its mask tokens.

Paper: Yang et al. 2019, XLNet (arXiv 1906.08237), which predicts the last sixth of the order.
Cost: sequences are longer by the predicted tokens.
"""

from dataclasses import replace
from typing import ClassVar

import numpy as np
import torch

from niwaki.answers.likelihood import Scoring
from niwaki.core.errors import InputError
from niwaki.core.settings import Settings, setting
from niwaki.models.forward import Batch
from niwaki.models.model import Model
from niwaki.objectives._masking import UnitSettings, masked_places, require_mask
from niwaki.objectives._token_prediction import TokenPrediction

CONTEXT = -1  # rank of tokens that are not predicted


class PermutationSettings(UnitSettings):
    rate: float = setting(1 / 6, "share of tokens that are predicted: the last ones of the order", gt=0, lt=1)


class PermutationLanguageModeling(TokenPrediction):
    settings: ClassVar[type[Settings]] = PermutationSettings
    scoring: ClassVar[Scoring] = "masked"

    def prepare(self, model: Model, seed: int = 0) -> None:
        super().prepare(model, seed)
        require_mask(self.vocabulary)
        inputs = model.anatomy.family.inputs
        if model.anatomy.family.relative is not None or inputs.part != "token_embeddings":
            raise InputError(
                "objective: 'permutation_lm' needs a table of positions, which networks of family "
                f"'{model.network.config.model_type}' do not have; take family 'bert'"
            )
        self._first_position, self._pad_id = inputs.skipped_positions, int(model.network.config.pad_token_id or 0)

    def batch(self, batch: Batch, generator: torch.Generator) -> Batch:
        assert isinstance(self.chosen, PermutationSettings)
        ids, lengths = batch.inputs["input_ids"].cpu().numpy(), batch.mask.sum(dim=1).tolist()
        orders = []
        for row, length in zip(ids, lengths, strict=True):
            draw = np.random.default_rng(int(torch.randint(2**62, (1,), generator=generator)))
            units = masked_places(row[:length], self.vocabulary, self.chosen, draw)
            orders.append(draw.permutation(np.concatenate(units)) if units else np.zeros(0, dtype=np.int64))
        return self._with_queries(batch, lengths, orders)

    def _with_queries(self, batch: Batch, lengths: list[int], orders: list[np.ndarray]) -> Batch:
        """The batch with the predicted places of each sequence, in their order, as queries behind its tokens."""
        whole = [length + len(order) for length, order in zip(lengths, orders, strict=True)]
        shape = len(lengths), max(whole)
        source = np.zeros(shape, dtype=np.int64)  # the place that each token is at
        is_query, real = np.zeros(shape, dtype=bool), np.zeros(shape, dtype=bool)
        rank = np.full(shape, CONTEXT)
        for row, (length, order) in enumerate(zip(lengths, orders, strict=True)):
            source[row, : whole[row]] = np.concatenate([np.arange(length), order])
            rank[row, order] = rank[row, length : whole[row]] = np.arange(len(order))
            is_query[row, length : whole[row]] = real[row, : whole[row]] = True
        device, taken = batch.mask.device, torch.from_numpy(source).to(batch.mask.device)
        queries, exists = torch.from_numpy(is_query).to(device), torch.from_numpy(real).to(device)
        inputs = {name: array.gather(1, taken) for name, array in batch.inputs.items()}
        targets = inputs["input_ids"]
        ids = targets.masked_fill(queries, self.vocabulary.mask_id).masked_fill(~exists, self._pad_id)
        inputs |= {"input_ids": ids, "attention_mask": exists.long(), "position_ids": taken + self._first_position}
        visible = torch.from_numpy(stream_mask(rank, is_query)).to(device)
        return replace(batch, inputs=inputs, targets=targets, predicted=queries, causal=False, visible=visible)


def stream_mask(rank: np.ndarray, is_query: np.ndarray) -> np.ndarray:
    """(batch, tokens, tokens) which tokens each one attends to. Content attends to ranks up to its own, queries to lower ones."""
    reach = np.where(is_query, rank - 1, rank)
    return (rank[:, None, :] <= reach[:, :, None]) & ~is_query[:, None, :]
