"""A network that writes, in torch: what the search of `answers/_beam_search.py` asks of an engine, from the lean pass."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import torch
from torch import Tensor

from niwaki.answers._beam_search import PAD, DecoderState, SearchSettings
from niwaki.answers._capabilities import GeneratesTokens
from niwaki.answers._forced_decoding import generate_or_score, hypotheses_of
from niwaki.answers._from_config import answer_type_of
from niwaki.models.anatomy import Anatomy
from niwaki.models.decoding import KeyValue
from niwaki.models.forward import NO_LABEL
from niwaki.models.model import Model
from niwaki.models.parts.decoders._decoder import Decoder


def search_of(model: Model) -> SearchSettings:
    """The search of the model's config, without the files of its answer type."""
    answer = getattr(model.network.config, "niwaki_answer", None)
    kind = answer_type_of({"niwaki_answer": answer or {"kind": "text"}}, "config")
    assert isinstance(kind, GeneratesTokens)
    return kind.search


def shift_right(targets: Tensor, start: int) -> Tensor:
    """Decoder inputs, (batch, tokens): the start token, then the targets without the last."""
    before = targets.roll(1, dims=1)
    before[:, 0] = start
    return before.masked_fill(before == NO_LABEL, PAD)


class TorchDecodeSteps(DecoderState):
    """Some texts that are read once; then a token further at each call."""

    def __init__(self, decoder: Decoder, inputs: Mapping[str, Tensor], hypotheses: int) -> None:
        memory, mask = decoder.encode(inputs), decoder.anatomy.inputs.mask(inputs)
        past = decoder.empty_past(len(mask) * hypotheses, memory[0][0])
        super().__init__(mask, [*flatten_pairs(memory)], [*flatten_pairs(past)], hypotheses)
        self.decoder = decoder

    def index(self, numbers: np.ndarray) -> Tensor:
        return torch.from_numpy(numbers).to(self.mask.device)

    def __call__(self, tokens: np.ndarray, parents: np.ndarray, texts: np.ndarray) -> np.ndarray:
        self.reorder(parents, texts)
        place = torch.tensor(self.place, device=self.mask.device)
        scores, *self.past = decode_step(self.decoder, self.index(tokens), place, self.mask, *self.memory, *self.past)
        self.place += 1
        return scores.cpu().numpy()


def decode_step(decoder: Decoder, ids: Tensor, place: Tensor, mask: Tensor, *pairs: Tensor) -> tuple[Tensor, ...]:
    """`Decoder.decode_step` with keys and values of memory and past as flat arguments, as a graph has them."""
    every = [(pairs[number], pairs[number + 1]) for number in range(0, len(pairs), 2)]
    first = sum(not cross.mixer.removed for _, cross in decoder.layers)  # of the past
    scores, past = decoder.decode_step(ids, place, mask, every[:first], every[first:])
    return scores, *flatten_pairs(past)


def flatten_pairs(pairs: Sequence[KeyValue]) -> Iterator[Tensor]:
    for pair in pairs:
        yield from pair


@torch.no_grad()
def generate(anatomy: Anatomy, inputs: Mapping[str, Tensor], how: SearchSettings) -> np.ndarray:
    """Arrays (batch, tokens) by name to what is generated for each text, as the search gives it; with `labels` to how likely they are."""
    assert anatomy.decoder is not None
    arrays = {name: values.cpu().numpy() for name, values in inputs.items()}
    return generate_or_score(TorchDecodeSteps(anatomy.decoder, inputs, hypotheses_of(arrays, how)), arrays, how)
