"""A network that writes, in torch: what the search of `answers/_beam_search.py` asks of an engine, from the lean pass."""

import numpy as np
import torch
from torch import Tensor

from niwaki.answers._beam_search import DecoderState, SearchSettings, beam_search
from niwaki.answers._from_config import answer_type_of
from niwaki.answers.text import Text
from niwaki.models.anatomy import Anatomy
from niwaki.models.export_modules import DecodeStepModule, flatten_pairs
from niwaki.models.model import Model


def text_of(model: Model) -> Text:
    """How the model's answers are written, without the files beside it."""
    said = getattr(model.network.config, "niwaki_answer", None)
    kind = answer_type_of({"niwaki_answer": said or {"kind": "text"}}, "config")
    assert isinstance(kind, Text)
    return kind


class TorchDecodeSteps(DecoderState):
    """Some texts that are read once; then a token further at each call."""

    def __init__(self, anatomy: Anatomy, ids: Tensor, mask: Tensor, types: Tensor | None, hypotheses: int) -> None:
        memory = anatomy.encode(ids, mask, types)
        past = anatomy.empty_past(len(ids) * hypotheses, memory[0][0])
        super().__init__(mask, [*flatten_pairs(memory)], [*flatten_pairs(past)], hypotheses)
        self.decode_step = DecodeStepModule(anatomy.network, anatomy)

    def index(self, numbers: np.ndarray) -> Tensor:
        return torch.from_numpy(numbers).to(self.mask.device)

    def __call__(self, tokens: np.ndarray, parents: np.ndarray, texts: np.ndarray) -> np.ndarray:
        self.reorder(parents, texts)
        place = torch.tensor(self.place, device=self.mask.device)
        scores, *self.past = self.decode_step(self.index(tokens), place, self.mask, *self.memory, *self.past)
        self.place += 1
        return scores.cpu().numpy()


@torch.no_grad()
def written(anatomy: Anatomy, ids: Tensor, mask: Tensor, types: Tensor | None, how: SearchSettings) -> np.ndarray:
    """Token ids, mask and types (batch, tokens) to what is written for each, as the search gives it."""
    return beam_search(TorchDecodeSteps(anatomy, ids, mask, types, how.beam), len(ids), how)
