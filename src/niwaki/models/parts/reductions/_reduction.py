"""A reduction shortens texts inside a layer, between its mixer and its feed-forward block. What follows computes on fewer tokens."""

from typing import ClassVar

from torch import Tensor

from niwaki.core.catalog import Catalog
from niwaki.models.layout import Layout
from niwaki.models.parts._part import Part

REDUCTIONS = Catalog("niwaki.models.parts.reductions", what="reduction")


class Reduction(Part):
    """Base of the files in `parts/reductions/`. Built as `Reduction(hidden_size, settings)`. The first token of a text always stays."""

    needs_attention: ClassVar[bool] = False  # whether `forward` reads `layout.received`

    def forward(self, rows: Tensor, layout: Layout) -> tuple[Tensor, Layout]:
        """Rows (…, hidden) to fewer rows and their layout."""
        raise NotImplementedError
