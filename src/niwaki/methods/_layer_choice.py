"""Which layers to keep: evenly spaced ones, or those whose removal increases the task's loss most."""

from collections.abc import Callable, Sequence

import torch

from niwaki.methods._method import Context
from niwaki.models.edit import Edit
from niwaki.models.forward import Batch
from niwaki.models.model import Model


def evenly_spaced(depth: int, count: int) -> list[int]:
    """`count` of `depth` layers, evenly spaced, always with the last: 3 of 6 are 1, 3, 5."""
    return [(number + 1) * depth // count - 1 for number in range(count)]


def greedy_by_loss(depth: int, count: int, loss: Callable[[list[int]], float]) -> list[int]:
    """Remove layers one by one, each time the one without which the loss is smallest; of equal ones, the last."""
    keep = list(range(depth))
    while len(keep) > count:
        rest = [[number for number in keep if number != removed] for removed in reversed(keep)]
        keep = min(rest, key=loss)
    return keep


def has_distinct_layers(model: Model) -> bool:
    """Whether no layer runs more than once; a layer that does is equally important each time."""
    return len(model.anatomy.layers) == len(model.anatomy.order)


def loss_after_edit(model: Model, edit: Edit, batches: Sequence[Batch], context: Context) -> float:
    """The task's mean loss over the batches after the edit; the model itself is not changed."""
    small = model.clone()
    small.apply_edit(edit)
    return mean_loss(small, batches, context)


@torch.no_grad()
def mean_loss(model: Model, batches: Sequence[Batch], context: Context) -> float:
    model.network.eval()
    return sum(float(context.loss(model, batch)) for batch in batches) / len(batches)
