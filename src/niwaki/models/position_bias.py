"""What families with relative positions add to all attention scores (MPNet, T5)."""

from functools import partial
from typing import TYPE_CHECKING

from torch import Tensor

from niwaki.models.layout import Layout

if TYPE_CHECKING:
    from niwaki.models.anatomy import Anatomy


def set_position_bias(anatomy: "Anatomy", hidden: Tensor, layout: Layout) -> None:
    """Tells a layout what the family adds to all attention scores."""
    relative = anatomy.family.relative
    if relative is not None:
        layout.bias_at = partial(relative.at, anatomy.trunk)
        layout.whole_bias = partial(relative.bias, anatomy.trunk, hidden)


def position_bias(anatomy: "Anatomy", hidden: Tensor) -> Tensor | None:
    """What the family adds to all attention scores, (1, heads, tokens, tokens)."""
    relative = anatomy.family.relative
    return None if relative is None else relative.bias(anatomy.trunk, hidden)
