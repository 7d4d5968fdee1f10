"""A network that writes, in torch: what the search of `answers/_search.py` asks of an engine, from the lean pass."""

import numpy as np
import torch
from torch import Tensor

from niwaki.answers._choose import kind_of
from niwaki.answers._search import Kept, Search, write
from niwaki.answers.text import Text
from niwaki.models.anatomy import Anatomy
from niwaki.models.lean import Step, flat
from niwaki.models.model import Model


def text_of(model: Model) -> Text:
    """How the model's answers are written, without the files beside it."""
    said = getattr(model.network.config, "niwaki_answer", None)
    kind = kind_of({"niwaki_answer": said or {"kind": "text"}}, "config")
    assert isinstance(kind, Text)
    return kind


class TorchSteps(Kept):
    """Some texts that are read once; then a token further at each call."""

    def __init__(self, anatomy: Anatomy, ids: Tensor, mask: Tensor, types: Tensor | None, hypotheses: int) -> None:
        memory = anatomy.remember(ids, mask, types)
        past = anatomy.nothing_written(len(ids) * hypotheses, memory[0][0])
        super().__init__(mask, [*flat(memory)], [*flat(past)], hypotheses)
        self.step = Step(anatomy.network, anatomy)

    def index(self, numbers: np.ndarray) -> Tensor:
        return torch.from_numpy(numbers).to(self.mask.device)

    def __call__(self, tokens: np.ndarray, parents: np.ndarray, texts: np.ndarray) -> np.ndarray:
        self.follow(parents, texts)
        place = torch.tensor(self.place, device=self.mask.device)
        scores, *self.past = self.step(self.index(tokens), place, self.mask, *self.memory, *self.past)
        self.place += 1
        return scores.cpu().numpy()


@torch.no_grad()
def written(anatomy: Anatomy, ids: Tensor, mask: Tensor, types: Tensor | None, how: Search) -> np.ndarray:
    """Token ids, mask and types (batch, tokens) to what is written for each, as the search gives it."""
    return write(TorchSteps(anatomy, ids, mask, types, how.beam), len(ids), how)
