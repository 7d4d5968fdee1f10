"""What each head, neuron and column is worth: how much the loss would move if it were switched off, to first order.

Every one gets a gate of value 1; its importance is |∂loss/∂gate|, summed over batches (Michel et al. 2019; Molchanov et al. 2019).
"""

import contextlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from niwaki.models.anatomy import Anatomy, Network
from niwaki.models.forward import Batch
from niwaki.models.model import Model


@dataclass(frozen=True)
class Importance:
    heads: list[Tensor]  # per distinct layer, (heads,)
    neurons: list[Tensor]  # per distinct layer, (neurons,)
    width: Tensor  # (width,)


def importance(model: Model, batches: Iterable[Batch], loss: Callable[[Model, Batch], Tensor]) -> Importance:
    """Runs the batches forward and backward, without dropout; weights and their gradients are left as they were."""
    anatomy = model.anatomy
    was_training = model.network.training
    model.network.eval()
    with gates(anatomy) as (heads, neurons, columns), _frozen(model.network):
        gate_list = [*heads, *neurons, columns]
        totals = [torch.zeros_like(gate) for gate in gate_list]
        for batch in batches:
            gradients = torch.autograd.grad(loss(model, batch), gate_list)
            for total, gradient in zip(totals, gradients, strict=True):
                total += gradient.abs()
    model.network.train(was_training)
    count = len(anatomy.layers)
    return Importance(totals[:count], totals[count : 2 * count], totals[-1])


@contextlib.contextmanager
def gates(anatomy: Anatomy) -> Iterator[tuple[list[Tensor], list[Tensor], Tensor]]:
    """Puts a gate before `out` (per head), before `ffn_out` (per neuron) and after every norm (per column)."""
    layers = anatomy.layers
    heads = [torch.ones(layer.heads, requires_grad=True) for layer in layers]
    neurons = [torch.ones(layer.neurons, requires_grad=True) for layer in layers]
    columns = torch.ones(anatomy.width, requires_grad=True)
    handles = []
    for layer, head_gate, neuron_gate in zip(layers, heads, neurons, strict=True):
        handles.append(layer.part("out").register_forward_pre_hook(_gate_input(head_gate, layer.head_width)))
        handles.append(layer.part("ffn_out").register_forward_pre_hook(_gate_input(neuron_gate, 1)))
        handles += [
            layer.part(part).register_forward_hook(_gate_output(columns)) for part in ("attention_norm", "ffn_norm")
        ]
    try:
        yield heads, neurons, columns
    finally:
        for handle in handles:
            handle.remove()


def _gate_input(gate: Tensor, repeat: int) -> Callable:
    return lambda module, args: (args[0] * gate.repeat_interleave(repeat), *args[1:])


def _gate_output(gate: Tensor) -> Callable:
    return lambda module, args, output: output * gate


@contextlib.contextmanager
def _frozen(network: Network) -> Iterator[None]:
    """Only the gates need gradients here: saves a third of the work."""
    trained = [parameter for parameter in network.parameters() if parameter.requires_grad]
    for parameter in trained:
        parameter.requires_grad_(False)
    try:
        yield
    finally:
        for parameter in trained:
            parameter.requires_grad_(True)


def most_important(worth: Tensor, count: int) -> list[int]:
    """The `count` largest, in their own order; ties go to the lower number, so that the choice is the same everywhere."""
    order = sorted(range(len(worth)), key=lambda number: (-float(worth[number]), number))
    return sorted(order[:count])
