"""Texts made shorter between layers: rows and a layout to fewer rows and theirs. Pure functions on tensors.

Exported graphs know no lengths, so they find the number of remaining tokens with `nonzero`; everywhere else it follows from the shape.
"""

from typing import NamedTuple, TypeVar

import torch
from torch import Tensor
from torch.nn import functional

from niwaki.models.layout import Layout, Packed, Padded
from niwaki.models.row_places import gather_rows

Count = TypeVar("Count", int, Tensor)


class Share(NamedTuple):
    """How many tokens of a text stay. Whole numbers, so that all engines agree."""

    thousandths: int  # of the tokens, rounded up
    least: int  # tokens that stay where there are as many

    def of(self, tokens: Count) -> Count:
        if isinstance(tokens, int):
            return min(tokens, max(self.least, (tokens * self.thousandths + 999) // 1000))
        share = (
            ((tokens * self.thousandths + 999) / 1000 + 1e-4).floor().to(tokens.dtype)
        )  # fp32 is exact below 16 million
        return torch.minimum(tokens, share.clamp(min=self.least))


def most_attended(rows: Tensor, layout: Layout, share: Share) -> tuple[Tensor, Layout]:
    """Keeps the tokens that got the most attention, in their order."""
    assert layout.received, "the mixer of this layer shows no attention"
    chosen, mask = strongest(layout.received[-1], layout.mask, share)
    return _at(rows, layout, chosen, mask)


def strongest(received: Tensor, mask: Tensor, share: Share) -> tuple[Tensor, Tensor]:
    """Of what each token got (batch, tokens), the places of those that stay, ascending, and their mask; both (batch, remaining tokens).
    The first token always stays. Behind the last one of a shorter text come places that mean nothing."""
    places = (mask[:1] * 0 + 1).cumsum(
        dim=1
    ) - 1  # 0, 1, …, (1, tokens); exporters make a constant of sizes in `arange`
    worth = (received + 1e9 * (places == 0)).masked_fill(mask == 0, -1.0)
    order = worth.argsort(dim=1, descending=True)
    if torch.jit.is_tracing():
        width = (places[0] < share.of(places[0, -1] + 1)).nonzero()[:, 0]
    else:
        width = places[0, : share.of(mask.shape[1])]
    inside = places[:, width] < share.of(mask.sum(dim=1))[:, None]  # (batch, remaining)
    behind = (~inside).to(places.dtype) * (places[:, -1:] + 1)
    chosen = (order[:, width] * inside + behind).sort(dim=1).values
    return chosen - behind, inside.to(mask.dtype)


def _at(rows: Tensor, layout: Layout, chosen: Tensor, mask: Tensor) -> tuple[Tensor, Layout]:
    """The rows at the chosen places (batch, remaining) of each sequence, with a layout of their own."""
    texts = (layout.mask[:, :1] * 0 + 1).cumsum(dim=0) - 1  # (batch, 1)
    places = chosen + texts * layout.mask.shape[1]
    if isinstance(layout, Packed):
        new = Packed(mask)
        return gather_rows(rows, layout.row_of(places.flatten()[new.places])), new
    found = rows.flatten(0, 1)[places]
    return found, Padded(mask, found)


def paired(rows: Tensor, layout: Layout) -> tuple[Tensor, Layout]:
    """The means of the second and third, fourth and fifth token and so on, behind the first token."""
    mask = layout.mask
    real = mask[..., None].to(rows.dtype)
    (one, other), (is_one, is_other) = _pairs(layout.unpack(rows) * real), _pairs(real)
    means = (one + other) / (is_one + is_other).clamp(min=1)
    whole = torch.cat([layout.unpack(rows)[:, :1], means], dim=1)
    new_mask = torch.cat([mask[:, :1], (is_one[..., 0] > 0).to(mask.dtype)], dim=1)
    if isinstance(layout, Packed):
        new = Packed(new_mask)
        return new.pack(whole), new
    return whole, Padded(new_mask, whole)


def _pairs(x: Tensor) -> tuple[Tensor, Tensor]:
    """The first and second ones of each pair behind the first token, both (batch, pairs, …); 0 where there is no second one."""
    behind = functional.pad(x, (0, 0, 0, 1))
    return behind[:, 1:][:, ::2], functional.pad(behind[:, 2:], (0, 0, 0, 1))[:, ::2]
