"""Which layers stay: evenly spread, or those that the task's loss misses most."""

from collections.abc import Callable, Sequence

import torch

from niwaki.methods._method import Context
from niwaki.models.edit import Edit
from niwaki.models.forward import Batch
from niwaki.models.model import Model


def evenly_spaced(depth: int, count: int) -> list[int]:
    """`count` layers of `depth`, evenly spread, always with the last: 3 of 6 are 1, 3, 5."""
    return [(number + 1) * depth // count - 1 for number in range(count)]


def greedy_by_loss(depth: int, count: int, loss: Callable[[list[int]], float]) -> list[int]:
    """One layer after the other goes, each time the one without which the loss is smallest; of equals the later one."""
    keep = list(range(depth))
    while len(keep) > count:
        rest = [[number for number in keep if number != gone] for gone in reversed(keep)]
        keep = min(rest, key=loss)
    return keep


def has_distinct_layers(model: Model) -> bool:
    """Whether every depth has a layer of its own; one layer that runs several times is worth the same each time."""
    return len(model.anatomy.layers) == len(model.anatomy.order)


def loss_after_edit(model: Model, edit: Edit, batches: Sequence[Batch], context: Context) -> float:
    """The task's mean loss over the batches if the model were cut so."""
    small = model.clone()
    small.apply_edit(edit)
    return mean_loss(small, batches, context)


@torch.no_grad()
def mean_loss(model: Model, batches: Sequence[Batch], context: Context) -> float:
    model.network.eval()
    return sum(float(context.loss(model, batch)) for batch in batches) / len(batches)
