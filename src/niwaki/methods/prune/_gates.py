"""Gates that learn which units a network does not need: open, closed or, during training, sampled in between.

The hard concrete distribution (Louizos et al. 2018): a noisy sigmoid, stretched beyond 0 and 1 and clipped, so that a gate is exactly 0
with a differentiable probability. A unit is a head, a neuron or a rank; its gate multiplies the columns of the matrix that reads the
unit, and is merged into them at the end.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from niwaki.core.errors import InputError
from niwaki.models.edits.blocks import Blocks, attention_kinds, gone
from niwaki.models.edits.ffn import Ffn
from niwaki.models.edits.heads import Heads
from niwaki.models.edits.ranks import Ranks, factored
from niwaki.models.model import Model
from niwaki.models.packed.factored import Factored
from niwaki.models.packed.removed import Removed
from niwaki.models.parametrizations import add_parametrization, merge_parametrizations

BETA, LOW, HIGH = 2 / 3, -0.1, 1.1  # temperature, and the range to which the sigmoid is stretched
INITIAL_ALPHA = 2.5  # 98 % of the samples are open

QUADRATIC_SPEED = (
    10  # of the quadratic multiplier, relative to the linear one, which overshoots when the target is passed
)


def open_probability(alpha: Tensor) -> Tensor:
    """The probability that a gate is not 0."""
    return torch.sigmoid(alpha - BETA * math.log(-LOW / HIGH))


def sample_gates(alpha: Tensor, uniform: Tensor) -> Tensor:
    """Gates from 0 to 1, from uniform noise."""
    noise = torch.log(uniform) - torch.log1p(-uniform)
    return (torch.sigmoid((noise + alpha) / BETA) * (HIGH - LOW) + LOW).clamp(0, 1)


def deterministic_gates(alpha: Tensor, probability: Tensor) -> Tensor:
    """Gates without noise: the expected number is open, at least one."""
    value = (torch.sigmoid(alpha) * (HIGH - LOW) + LOW).clamp(0, 1)
    count = max(1, round(float(probability.detach().sum())))
    best = alpha.sort(descending=True, stable=True).indices[:count]
    return torch.zeros_like(value).index_copy(0, best, value[best])


def expected(sizes: Sequence[int], shares: Sequence[tuple[Tensor, Tensor]]) -> Tensor:
    """The expected fraction of all parameters that stay, for matrices with these fractions of outputs and inputs."""
    remaining = (size * outputs * inputs for size, (outputs, inputs) in zip(sizes, shares, strict=True))
    return sum(remaining, torch.zeros(())) / sum(sizes)


def scaled_parameter(parameter: Tensor, speed: float) -> Tensor:
    """A parameter that moves `speed` times faster than others. Its gradient is not scaled, so that clipping is unaffected."""
    return parameter + (speed - 1) * parameter.detach()


def ascending_parameter(parameter: Tensor, speed: float) -> Tensor:
    """The same with the gradient reversed, so that gradient descent increases the loss in this parameter."""
    return (speed + 1) * parameter.detach() - parameter


class Gate(nn.Module):
    """A parametrization of the matrix that reads the units: `unit` is the unit of each input, or the number of units for an input
    that belongs to none. With `whole`, one more gate opens and closes all of them."""

    unit: Tensor

    def __init__(self, units: int, unit: Tensor, speed: float, whole: bool) -> None:
        super().__init__()
        self.speed = speed
        self.alpha = nn.Parameter(torch.full((units,), INITIAL_ALPHA / speed))
        self.whole = nn.Parameter(torch.full((1,), INITIAL_ALPHA / speed)) if whole else None
        self.register_buffer("unit", unit)

    def forward(self, weight: Tensor) -> Tensor:
        return weight * torch.cat([self.values(), weight.new_ones(1)])[self.unit]

    def values(self) -> Tensor:
        """In evaluation, the whole is open if that is more likely, with the number of units expected from both gates."""
        alphas = [scaled_parameter(one, self.speed) for one in (self.alpha, self.whole) if one is not None]
        if self.training:
            gates = [sample_gates(alpha, torch.rand_like(alpha).clamp(1e-6, 1 - 1e-6)) for alpha in alphas]
        else:
            whole = [(open_probability(alpha) >= 0.5).to(alpha.dtype) for alpha in alphas[1:]]
            gates = [deterministic_gates(alphas[0], self.probability()), *whole]
        return math.prod(gates[1:], start=gates[0])

    def probability(self) -> Tensor:
        """The probability that each unit is open."""
        units = open_probability(scaled_parameter(self.alpha, self.speed))
        return units if self.whole is None else units * open_probability(scaled_parameter(self.whole, self.speed))

    def of_inputs(self) -> Tensor:
        """The probability that each input of the matrix is read."""
        probability = self.probability()
        return torch.cat([probability, probability.new_ones(1)])[self.unit]


class Lagrangian(nn.Module):
    """Multipliers that increase while more than `aim` is expected to stay, and decrease below it (gradient ascent)."""

    aim: Tensor

    def __init__(self, speed: float) -> None:
        super().__init__()
        self.speed = speed
        self.first, self.second = nn.Parameter(torch.zeros(1)), nn.Parameter(torch.zeros(1))
        self.register_buffer("aim", torch.ones(()))

    def forward(self, share: Tensor) -> Tensor:
        over = share - self.aim
        first, second = (
            ascending_parameter(self.first, self.speed),
            ascending_parameter(self.second, QUADRATIC_SPEED * self.speed),
        )
        return (first * over + second * over.square()).squeeze()


@dataclass(frozen=True)
class Gated:
    """One matrix: its size, the gate of its outputs, and the gates of its inputs."""

    size: int
    outputs: Gate | None
    inputs: list[Gate]

    def shares(self) -> tuple[Tensor, Tensor]:
        one = torch.ones(1)
        read = (
            math.prod((gate.of_inputs() for gate in self.inputs[1:]), start=self.inputs[0].of_inputs())
            if self.inputs
            else one
        )
        return (one if self.outputs is None else self.outputs.probability()).mean(), read.mean()


class Gates:
    """All gates of a model; None for a block that has been removed."""

    def __init__(self, model: Model, over: Sequence[str], speed: float, whole: bool, name: str) -> None:
        self.speed, self.whole, self.name = speed, whole, name
        self.outputs: dict[int, Gate] = {}  # by the matrix that computes the units
        self.inputs: dict[int, list[Gate]] = {}  # by the matrix that reads them
        self.heads = [self._head(layer) for layer in model.anatomy.attentions] if "heads" in over else []
        self.neurons = [self._neuron(block) for block in model.anatomy.blocks] if "ffn" in over else []
        self.ranks = (
            [self._rank(module) for module in factored(model.network, model.anatomy).values()]
            if "ranks" in over
            else []
        )
        leaves = {id(module): module for module in map(model.network.get_submodule, model.anatomy.matrices())}
        self.matrices = [
            Gated(module.in_features * module.out_features, self.outputs.get(number), self.inputs.get(number, []))
            for number, module in leaves.items()
            if hasattr(module, "in_features")
        ]

    def share(self) -> Tensor:
        """The expected fraction of the matrices that stays."""
        return expected([one.size for one in self.matrices], [one.shares() for one in self.matrices])

    def _head(self, layer: Any) -> Gate | None:
        if isinstance(layer.part("out"), Removed):
            return None
        unit = torch.arange(layer.heads).repeat_interleave(layer.head_size)
        shares_keys = layer.mixer.key_heads is not None  # they go with the last head that reads them
        makers = ("query",) if shares_keys else ("query", "key", "value")
        return self._gate(layer.heads, unit, [layer.part(part) for part in makers], layer.part("out"))

    def _neuron(self, block: Any) -> Gate | None:
        if isinstance(block.consumer, Removed):
            return None
        numbers = block.factors(torch.arange(block.ffn_size).float() + 2) - 2  # -1 for an input that is no neuron
        unit = torch.where(numbers < 0, block.ffn_size, numbers).long()
        return self._gate(block.ffn_size, unit, block.producers, block.consumer)

    def _rank(self, module: Any) -> Gate:
        return self._gate(module.rank, torch.arange(module.rank), [module.first], module.second, whole=False)

    def _gate(self, units: int, unit: Tensor, makers: list[Any], reader: object, whole: bool = True) -> Gate:
        first, lasts = _end(reader, "first"), [_end(maker, "second") for maker in makers]
        found = self.outputs.get(id(lasts[0]))
        if found is not None:  # layers that share their matrices share their gate
            return found
        if not all(isinstance(module, nn.Linear) for module in (first, *lasts)):
            raise InputError(
                f"{self.name}: the weights are packed, sparse or Kronecker products, which cannot have gates; prune before that"
            )
        gate = Gate(units, unit, self.speed, self.whole and whole)
        add_parametrization(first, gate)
        self.inputs.setdefault(id(first), []).append(gate)
        self.outputs |= {id(last): gate for last in lasts}
        return gate

    def min_share(self) -> float:
        """The fraction that would stay if every gate closed."""
        for gate in (*self.heads, *self.neurons, *self.ranks):
            if gate is not None:
                gate.alpha.data.fill_(-1e3)
        return float(self.share().detach())

    def cut(self, model: Model) -> None:
        """Merge the gates and remove the closed units; a method that finished before may have merged them already."""
        model.network.eval()
        heads, neurons, ranks = ([_open(gate) for gate in gates] for gates in (self.heads, self.neurons, self.ranks))
        closed = self._closed(model)
        readers = [block.consumer_path for block in model.anatomy.blocks if block.module is model.network]
        merge_parametrizations(model.network, [*model.anatomy.matrices(), *readers])
        if ranks:
            model.apply_edit(Ranks(keep=[*ranks]))
        if heads:
            model.apply_edit(Heads(keep=[*heads]))
        if neurons:
            model.apply_edit(Ffn(keep=[*neurons]))
        if closed:
            model.apply_edit(closed)

    def _closed(self, model: Model) -> Blocks | None:
        """An edit that removes blocks without open units; one attention block of each kind stays, with zero output."""
        anatomy = model.anatomy
        attention, ffn = (
            [number for number, gate in enumerate(gates) if gate is not None and not gate.eval().values().any()]
            for gates in (self.heads, self.neurons)
        )
        out = gone(anatomy.attentions, "attention")
        for kind in attention_kinds(anatomy):
            if set(kind) <= {*attention, *out}:
                attention.remove(next(number for number in kind if number not in out))
        return Blocks(attention=attention, ffn=ffn) if anatomy.layers and (attention or ffn) else None


def _end(module: object, inner: str) -> Any:
    """The first or the second matrix of a factored one."""
    return _end(getattr(module, inner), inner) if isinstance(module, Factored) else module


def _open(gate: Gate | None) -> list[int]:
    """The units whose gates are not 0; if all are, the most likely unit, with zero output. A removed block has one unit."""
    return [0] if gate is None else gate.eval().values().nonzero()[:, 0].tolist() or [int(gate.alpha.argmax())]
