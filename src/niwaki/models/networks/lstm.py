"""One bidirectional LSTM layer whose weights lie as an ONNX graph reads them, so that they are stored once for torch and engine.

torch holds the same numbers as eight matrices with the gates in another order. They are put in that order at each call,
which copies little beside the products.
"""

from typing import Any

import torch
from torch import Tensor, nn

from niwaki.models.packed.int8 import quantize_rows

GATES = 4
INPUT, OUTPUT, FORGET, CELL = range(GATES)  # as ONNX orders them
FOR_TORCH = [INPUT, FORGET, CELL, OUTPUT]


class BiLstm(nn.Module):
    """(batch, tokens, inputs) and a mask to (batch, tokens, 2 × units): what was read up to a token, and from the end to it."""

    input: Any  # a parameter here, a buffer of a packed layer
    recurrent: Any
    bias: Any

    def __init__(self, inputs: int, units: int) -> None:
        super().__init__()
        self.inputs, self.units = inputs, units
        self.input = nn.Parameter(torch.empty(2, GATES * units, inputs))
        self.recurrent = nn.Parameter(torch.empty(2, GATES * units, units))
        self.bias = nn.Parameter(torch.empty(2 * 2 * GATES * units))  # flat, so that it is not decayed like a matrix
        self.reset_parameters()

    def reset_parameters(self) -> None:
        for weights in (self.input, self.recurrent):
            nn.init.uniform_(weights, -(self.units**-0.5), self.units**-0.5)
        nn.init.zeros_(self.bias)

    def weights(self) -> tuple[Tensor, Tensor, Tensor]:
        """As ONNX has them: (2, 4 × units, inputs), (2, 4 × units, units), (2, 8 × units)."""
        return self.input, self.recurrent, self.bias.view(2, -1)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        lengths = mask.sum(dim=1)
        if torch.onnx.is_in_onnx_export():
            return _Graph.apply(x, lengths, *self.weights(), self.units)
        return run(x, lengths, *self.weights())

    def packed(self) -> "Int8BiLstm":
        return Int8BiLstm.of(self)


class Int8BiLstm(BiLstm):
    """The same with matrices stored in 8 bits, one scale for each gate of each unit. They are unpacked to be multiplied: by
    the engine once, when it loads the graph. Its products are of floats: ONNX has no LSTM of integers."""

    input_scale: Tensor
    recurrent_scale: Tensor

    def __init__(self, inputs: int, units: int) -> None:
        nn.Module.__init__(self)
        self.inputs, self.units = inputs, units
        for name, size in (("input", inputs), ("recurrent", units)):
            self.register_buffer(name, torch.zeros(2, GATES * units, size, dtype=torch.int8))
            self.register_buffer(f"{name}_scale", torch.ones(2, GATES * units, 1))
        self.register_buffer("bias", torch.zeros(2 * 2 * GATES * units))

    @classmethod
    def of(cls, lstm: BiLstm) -> "Int8BiLstm":
        with torch.device(lstm.bias.device):  # of a skeleton nothing takes memory
            packed = cls(lstm.inputs, lstm.units)
        for name in ("input", "recurrent"):
            weight = getattr(lstm, name)
            codes, scale = quantize_rows(weight.flatten(0, 1))
            setattr(packed, name, codes.view_as(weight))
            setattr(packed, f"{name}_scale", scale.view(2, -1, 1))
        packed.bias = lstm.bias.detach().clone()
        return packed

    def weights(self) -> tuple[Tensor, Tensor, Tensor]:
        input, recurrent = self.input.float() * self.input_scale, self.recurrent.float() * self.recurrent_scale
        return input, recurrent, self.bias.view(2, -1)

    def packed(self) -> "Int8BiLstm":
        return self


def run(x: Tensor, lengths: Tensor, input: Tensor, recurrent: Tensor, bias: Tensor) -> Tensor:
    """Both directions over texts that begin at the first token. The backward one reads each text turned around: padding then
    lies behind it as well, and no state ever comes out of padding. Twice as fast as torch's packed sequences on a CPU."""
    order = reversal(lengths, x.shape[1])[..., None]  # (batch, tokens, 1)
    forward = one_way(x, input[0], recurrent[0], bias[0])
    turned = one_way(turn(x, order), input[1], recurrent[1], bias[1])
    return torch.cat([forward, turn(turned, order)], dim=-1)


def reversal(lengths: Tensor, tokens: int) -> Tensor:
    """(batch,) to (batch, tokens): the places of a text's tokens from its last to its first, then those of the padding."""
    places = torch.arange(tokens, device=lengths.device)[None]
    return torch.where(places < lengths[:, None], lengths[:, None] - 1 - places, places).long()


def turn(x: Tensor, order: Tensor) -> Tensor:
    return x.gather(1, order.expand(-1, -1, x.shape[2]))


def one_way(x: Tensor, input: Tensor, recurrent: Tensor, bias: Tensor) -> Tensor:
    """(batch, tokens, inputs) to (batch, tokens, units), by torch's own LSTM."""
    units = recurrent.shape[1]
    flat = [
        values.unflatten(0, (GATES, units))[FOR_TORCH].flatten(0, 1)
        for values in (input, recurrent, *bias.view(2, GATES * units))
    ]
    start = x.new_zeros(1, x.shape[0], units)
    return torch.lstm(x, [start, start], flat, True, 1, 0.0, torch.is_grad_enabled(), False, True)[0]


class _Graph(torch.autograd.Function):
    """What a layer becomes in an ONNX graph: one LSTM node that is told the lengths."""

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, lengths: Tensor, input: Tensor, recurrent: Tensor, bias: Tensor, units: int
    ) -> Tensor:
        return run(x, lengths, input, recurrent, bias)

    @staticmethod
    def symbolic(g: Any, x: Any, lengths: Any, input: Any, recurrent: Any, bias: Any, units: int) -> Any:
        first = g.op("Transpose", x, perm_i=[1, 0, 2])  # (tokens, batch, inputs)
        counts = g.op("Cast", lengths, to_i=6)  # 6 = int32
        read, _, _ = g.op(
            "LSTM", first, input, recurrent, bias, counts, hidden_size_i=units, direction_s="bidirectional", outputs=3
        )
        by_text = g.op("Transpose", read, perm_i=[2, 0, 1, 3])  # from (tokens, 2, batch, units)
        shape = g.op("Constant", value_t=torch.tensor([0, 0, -1]))
        return g.op("Reshape", by_text, shape)
