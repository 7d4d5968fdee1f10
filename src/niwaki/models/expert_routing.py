"""The arithmetic of a mixture of experts: which experts a row goes to, with which weights, and losses that spread the rows evenly.

Rows are grouped by expert, so that each expert is one product over its own rows. No row is dropped, and no expert has a capacity.
"""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from niwaki.models.row_places import gather_rows

SMALLEST = 1e-9  # probability by which a weight may be divided
Expert = Callable[[Tensor], Tensor]


def choose(logits: Tensor, active: int, is_sum: bool) -> tuple[Tensor, Tensor]:
    """Of router logits (rows, experts), the `active` best experts of each row and their weights, both (rows, active).

    Weights are 1 (`is_sum`), or add up to 1 in proportion to the probabilities. What a weight is divided by counts as a constant, so that
    the router learns from the loss also where the weights are always 1."""
    experts = logits.topk(active, dim=-1).indices
    probabilities = logits.float().softmax(dim=-1).gather(-1, experts)
    whole = probabilities if is_sum else probabilities.sum(dim=-1, keepdim=True)
    whole = whole.detach().clamp(min=SMALLEST)
    return experts, probabilities.clamp(min=SMALLEST) / whole


def run_grouped(rows: Tensor, chosen: Tensor, experts: Sequence[Expert]) -> Tensor:
    """Outputs (rows, active, hidden) of the chosen experts (rows, active). Every expert is called once, though with no row."""
    active = chosen.shape[1]
    if rows.is_meta:  # nothing is known of the choice: an even one
        places = torch.arange(rows.shape[0] * active, device=rows.device).tensor_split(len(experts))
        groups = tuple((place, place) for place in places)
    else:
        found = [(chosen == number).nonzero().unbind(dim=1) for number in range(len(experts))]
        groups = tuple((row, row * active + slot) for row, slot in found)
    outputs = [expert(gather_rows(rows, row)) for expert, (row, _) in zip(experts, groups, strict=True)]
    order = torch.cat([place for _, place in groups]).argsort()
    return gather_rows(torch.cat(outputs), order).unflatten(0, (-1, active))


def shares(logits: Tensor, active: int) -> Tensor:
    """The share of the rows' choices that each expert gets, (experts,)."""
    chosen = logits.topk(active, dim=-1).indices.flatten()
    return torch.bincount(chosen, minlength=logits.shape[-1]) / chosen.numel()


def balance_loss(logits: Tensor, active: int) -> Tensor:
    """1 where all experts get as many rows, up to the number of experts if one gets all (Fedus et al. 2022, equation 4)."""
    mean = logits.float().softmax(dim=-1).mean(dim=0)
    return logits.shape[-1] * (shares(logits, active) * mean).sum()


def z_loss(logits: Tensor) -> Tensor:
    """Keeps router logits small, so that rounding does not change the choice (Zoph et al. 2022, equation 5)."""
    return logits.float().logsumexp(dim=-1).square().mean()
