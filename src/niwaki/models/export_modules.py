"""The forward pass as modules of plain tensors, for exporting to a graph."""

from collections.abc import Iterator, Sequence

from torch import Tensor, nn

from niwaki.models.anatomy import Anatomy, Network
from niwaki.models.layer import has_attention


class ForwardModule(nn.Module):
    """Token ids, mask and types (batch, tokens) to logits (batch, labels), or (batch, tokens, labels) from heads per token."""

    def __init__(self, network: Network, anatomy: Anatomy) -> None:
        super().__init__()
        self.network = network
        self.anatomy = anatomy

    def forward(self, ids: Tensor, mask: Tensor, types: Tensor | None = None) -> Tensor:
        return self.anatomy.logits(ids, mask, types)


class LayerRangeModule(nn.Module):
    """The layers from one depth to another and the head: token ids, or what the stretch before left, to logits and, where layers
    remain, the hidden states before the last of these layers. For heads that read the first token."""

    def __init__(self, network: Network, anatomy: Anatomy, first: int, last: int, begins: bool) -> None:
        super().__init__()
        self.network = network
        self.anatomy = anatomy
        self.first, self.last, self.begins = first, last, begins

    def forward(self, start: Tensor, mask: Tensor, types: Tensor | None = None) -> Tensor | tuple[Tensor, Tensor]:
        hidden = self.anatomy.embed(start, types) if self.begins else start
        left = self.anatomy.layer_range(hidden, mask, self.first, self.last - 1, every=True)
        logits = self.anatomy.answer(self.anatomy.layer_range(left, mask, self.last - 1, self.last, every=False))
        return (logits, left) if self.last < len(self.anatomy.order) else logits


class EncodeModule(nn.Module):
    """Of a network that writes: token ids, mask and types (batch, tokens) to what its decoder reads of them, keys and values of one
    layer behind the other."""

    def __init__(self, network: Network, anatomy: Anatomy) -> None:
        super().__init__()
        self.network = network
        self.anatomy = anatomy

    def forward(self, ids: Tensor, mask: Tensor, types: Tensor | None = None) -> tuple[Tensor, ...]:
        return tuple(flatten_pairs(self.anatomy.encode(ids, mask, types)))


class DecodeStepModule(nn.Module):
    """And one token further: the last tokens (texts, hypotheses), their place, the mask of what was read, then keys and values of
    the memory and of the past, to how likely each piece comes next and the past with these tokens."""

    def __init__(self, network: Network, anatomy: Anatomy) -> None:
        super().__init__()
        self.network = network
        self.anatomy = anatomy

    def forward(self, ids: Tensor, place: Tensor, mask: Tensor, *pairs: Tensor) -> tuple[Tensor, ...]:
        every = [(pairs[number], pairs[number + 1]) for number in range(0, len(pairs), 2)]
        first = sum(has_attention(other) for _, other in self.anatomy.decoder_layers)  # of the past
        scores, past = self.anatomy.decode_step(ids, place, mask, every[:first], every[first:])
        return scores, *flatten_pairs(past)


def flatten_pairs(pairs: Sequence[tuple[Tensor, Tensor]]) -> Iterator[Tensor]:
    for pair in pairs:
        yield from pair
