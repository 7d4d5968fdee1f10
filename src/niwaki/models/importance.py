"""What each head, neuron and column is worth: how much the loss would move if it were switched off, to first order.

Every one gets a gate of value 1; its importance is |∂loss/∂gate|, summed over batches (Michel et al. 2019; Molchanov et al. 2019).
"""

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from niwaki.models.anatomy import Anatomy, Network
from niwaki.models.forward import Batch
from niwaki.models.model import Model


@dataclass(frozen=True)
class Importance:
    heads: list[Tensor]  # per attention of the anatomy, (heads,)
    neurons: list[Tensor]  # per block of the anatomy, (neurons,)
    width: Tensor  # (width,)


def importance(model: Model, batches: Iterable[Batch], loss: Callable[[Model, Batch], Tensor]) -> Importance:
    """Runs the batches forward and backward, without dropout; weights and their gradients are left as they were."""
    anatomy = model.anatomy
    was_training = model.network.training
    model.network.eval()
    heads = [torch.ones(layer.heads, requires_grad=True) for layer in anatomy.attentions]
    neurons = [torch.ones(block.ffn_size, requires_grad=True) for block in anatomy.blocks]
    columns = torch.ones(anatomy.hidden_size, requires_grad=True)
    with gates(anatomy, heads, neurons, columns), _frozen(model.network):
        gate_list = [*heads, *neurons, columns]
        totals = [torch.zeros_like(gate) for gate in gate_list]
        for batch in batches:
            # a network without layers has no place for some of the gates
            gradients = torch.autograd.grad(loss(model, batch), gate_list, materialize_grads=True)
            for total, gradient in zip(totals, gradients, strict=True):
                total += gradient.abs()
    model.network.train(was_training)
    return Importance(totals[: len(heads)], totals[len(heads) : -1], totals[-1])


@contextlib.contextmanager
def gates(
    anatomy: Anatomy, heads: Sequence[Tensor], neurons: Sequence[Tensor], columns: Tensor | None = None
) -> Iterator[None]:
    """Puts factors before `out` (per head), before what reads a block (per neuron) and after every norm (per column)."""
    handles = []
    for block, gate in zip(anatomy.blocks, neurons, strict=True):
        handles.append(block.consumer.register_forward_pre_hook(_gate_input(gate, block.factors)))
    for layer, gate in zip(anatomy.attentions, heads, strict=True):
        per_head = partial(torch.repeat_interleave, repeats=layer.head_size)
        handles.append(layer.part("out").register_forward_pre_hook(_gate_input(gate, per_head)))
    if columns is not None:
        for layer in anatomy.every_layer:
            handles += [layer.part(norm).register_forward_hook(_gate_output(columns)) for norm in layer.norms]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def _gate_input(gate: Tensor, spread: Callable[[Tensor], Tensor]) -> Callable:
    """`spread` makes of the gate a factor for each input."""
    return lambda module, args: (args[0] * spread(gate), *args[1:])


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
