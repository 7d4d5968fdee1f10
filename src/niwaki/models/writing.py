"""A network that writes, in torch: what the search of `answers/_search.py` asks of an engine, from the lean pass."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from niwaki.answers._choose import kind_of
from niwaki.answers._search import Search, write
from niwaki.answers.text import Text
from niwaki.models.anatomy import Anatomy
from niwaki.models.model import Model


def text_of(model: Model) -> Text:
    """How the model's answers are written, without the files beside it."""
    said = getattr(model.network.config, "niwaki_answer", None)
    kind = kind_of({"niwaki_answer": said or {"kind": "text"}}, "config")
    assert isinstance(kind, Text)
    return kind


class TorchSteps:
    """Some texts that are read once; then a token further at each call."""

    def __init__(self, anatomy: Any, ids: Tensor, mask: Tensor, types: Tensor | None, hypotheses: int) -> None:
        self.anatomy, self.mask, self.hypotheses, self.place = anatomy, mask, hypotheses, 0
        self.memory = anatomy.remember(ids, mask, types)
        self.past = anatomy.nothing_written(len(ids) * hypotheses, self.memory[0][0])

    def __call__(self, tokens: np.ndarray, parents: np.ndarray, texts: np.ndarray) -> np.ndarray:
        device = self.mask.device
        if len(texts) < len(self.mask):
            kept = torch.from_numpy(texts).to(device)
            self.mask = self.mask[kept]
            self.memory = [(key[kept], value[kept]) for key, value in self.memory]
        rows = (texts[:, None] * self.hypotheses + parents).ravel()
        if self.place and not np.array_equal(rows, np.arange(len(self.past[0][0]))):
            order = torch.from_numpy(rows).to(device)
            self.past = [(key[order], value[order]) for key, value in self.past]
        place = torch.tensor(self.place, device=device)
        given = torch.from_numpy(tokens).to(device)
        scores, self.past = self.anatomy.step(given, place, self.mask, self.memory, self.past)
        self.place += 1
        return scores.cpu().numpy()


@torch.no_grad()
def written(anatomy: Anatomy, ids: Tensor, mask: Tensor, types: Tensor | None, how: Search) -> np.ndarray:
    """Token ids, mask and types (batch, tokens) to what is written for each, as the search gives it."""
    return write(TorchSteps(anatomy, ids, mask, types, how.beam), len(ids), how)
