"""LSTM layers whose weights are stored as ONNX reads them, so that torch and the engine share one file.

torch uses other matrices, with another order of the gates. They are reordered at each call, which is cheap compared with the products.
"""

from typing import Any, Literal

import torch
from torch import Tensor, nn

from niwaki.models.packed.int8 import quantize_rows

GATES = 4
INPUT, OUTPUT, FORGET, CELL = range(GATES)  # the order in ONNX
FOR_TORCH = [INPUT, FORGET, CELL, OUTPUT]
Direction = Literal["forward", "reverse", "bidirectional"]  # as ONNX names them


class Lstm(nn.Module):
    """(batch, tokens, inputs) and a mask to the states of each direction (batch, tokens, directions × units). With `drops_weights`,
    single recurrent weights are dropped while training (DropConnect, Merity et al. 2018)."""

    input: Any  # a parameter; a buffer in a packed layer
    recurrent: Any
    bias: Any

    def __init__(self, inputs: int, units: int, direction: Direction = "forward", drops_weights: bool = False) -> None:
        super().__init__()
        self.inputs, self.units, self.direction = inputs, units, direction
        self.input = nn.Parameter(torch.empty(self.directions, GATES * units, inputs))
        self.recurrent = nn.Parameter(torch.empty(self.directions, GATES * units, units))
        self.bias = nn.Parameter(
            torch.empty(self.directions * 2 * GATES * units)
        )  # flat, so that weight decay skips it
        self.weight_dropout = nn.Dropout(0.0) if drops_weights else None
        self.reset_parameters()

    @property
    def directions(self) -> int:
        return 2 if self.direction == "bidirectional" else 1

    def reset_parameters(self) -> None:
        for weights in (self.input, self.recurrent):
            nn.init.uniform_(weights, -(self.units**-0.5), self.units**-0.5)
        nn.init.zeros_(self.bias)

    def weights(self) -> tuple[Tensor, Tensor, Tensor]:
        """In ONNX's layout: (directions, 4 × units, inputs), (directions, 4 × units, units), (directions, 8 × units)."""
        recurrent = self.recurrent if self.weight_dropout is None else self.weight_dropout(self.recurrent)
        return self.input, recurrent, self.bias.view(self.directions, -1)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        lengths = mask.sum(dim=1)
        if torch.onnx.is_in_onnx_export():
            return _Graph.apply(x, lengths, *self.weights(), self.units, self.direction)
        return run(x, lengths, *self.weights(), self.direction)

    def packed(self) -> "Int8Lstm":
        return Int8Lstm.of(self)


class BiLstm(Lstm):
    """Forward and backward states (batch, tokens, 2 × units)."""

    def __init__(self, inputs: int, units: int) -> None:
        super().__init__(inputs, units, "bidirectional")


class Int8Lstm(Lstm):
    """The same with 8-bit matrices and a scale for each gate of each unit. The engine unpacks them once, when it loads the graph,
    and multiplies floats: ONNX has no integer LSTM."""

    input_scale: Tensor
    recurrent_scale: Tensor

    def __init__(self, inputs: int, units: int, direction: Direction = "bidirectional") -> None:
        nn.Module.__init__(self)
        self.inputs, self.units, self.direction = inputs, units, direction
        for name, size in (("input", inputs), ("recurrent", units)):
            self.register_buffer(name, torch.zeros(self.directions, GATES * units, size, dtype=torch.int8))
            self.register_buffer(f"{name}_scale", torch.ones(self.directions, GATES * units, 1))
        self.register_buffer("bias", torch.zeros(self.directions * 2 * GATES * units))

    @classmethod
    def of(cls, lstm: Lstm) -> "Int8Lstm":
        with torch.device(lstm.bias.device):  # a skeleton on the meta device takes no memory
            packed = cls(lstm.inputs, lstm.units, lstm.direction)
        for name in ("input", "recurrent"):
            weight = getattr(lstm, name)
            codes, scale = quantize_rows(weight.flatten(0, 1))
            setattr(packed, name, codes.view_as(weight))
            setattr(packed, f"{name}_scale", scale.view(packed.directions, -1, 1))
        packed.bias = lstm.bias.detach().clone()
        return packed

    def weights(self) -> tuple[Tensor, Tensor, Tensor]:
        input, recurrent = self.input.float() * self.input_scale, self.recurrent.float() * self.recurrent_scale
        return input, recurrent, self.bias.view(self.directions, -1)

    def packed(self) -> "Int8Lstm":
        return self


def run(
    x: Tensor, lengths: Tensor, input: Tensor, recurrent: Tensor, bias: Tensor, direction: Direction = "bidirectional"
) -> Tensor:
    """One or both directions over texts that start at the first token. Padding behind a text changes no state of it. The backward
    direction reads reversed texts, so that padding comes last there too."""
    if direction == "forward":
        return one_way(x, input[0], recurrent[0], bias[0])
    order = reversal(lengths, x.shape[1])[..., None]  # (batch, tokens, 1)
    backward = turn(one_way(turn(x, order), input[-1], recurrent[-1], bias[-1]), order)
    if direction == "reverse":
        return backward
    return torch.cat([one_way(x, input[0], recurrent[0], bias[0]), backward], dim=-1)


def reversal(lengths: Tensor, tokens: int) -> Tensor:
    """(batch,) to (batch, tokens): the positions of a text's tokens from last to first, then those of the padding."""
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
    """A layer in an ONNX graph: one LSTM node with sequence lengths."""

    @staticmethod
    def forward(
        ctx: Any,
        x: Tensor,
        lengths: Tensor,
        input: Tensor,
        recurrent: Tensor,
        bias: Tensor,
        units: int,
        direction: Direction,
    ) -> Tensor:
        return run(x, lengths, input, recurrent, bias, direction)

    @staticmethod
    def symbolic(
        g: Any, x: object, lengths: object, input: object, recurrent: object, bias: object, units: int, direction: str
    ) -> Any:
        first = g.op("Transpose", x, perm_i=[1, 0, 2])  # (tokens, batch, inputs)
        counts = g.op("Cast", lengths, to_i=6)  # 6 = int32
        read, _, _ = g.op(
            "LSTM", first, input, recurrent, bias, counts, hidden_size_i=units, direction_s=direction, outputs=3
        )
        by_text = g.op("Transpose", read, perm_i=[2, 0, 1, 3])  # from (tokens, directions, batch, units)
        shape = g.op("Constant", value_t=torch.tensor([0, 0, -1]))
        return g.op("Reshape", by_text, shape)
