"""A mixer lets the tokens of a sequence exchange information: attention, or what takes its place."""

from typing import ClassVar

from torch import Tensor

from niwaki.core.catalog import Catalog
from niwaki.models.layout import Layout
from niwaki.models.parts._part import Part
from niwaki.models.record import Record

MIXERS = Catalog("niwaki.models.parts.mixers", what="mixer")


class Mixer(Part):
    """Base of the files in `parts/mixers/`. Norm and residual connection are the layer's.

    One that is an `nn.Module` is built as `Mixer(hidden_size, settings)`.
    """

    records: ClassVar[tuple[str, ...]] = ()  # activations that it can show
    heads: int = 0
    head_size: int = 0

    def forward(self, rows: Tensor, layout: Layout, record: Record) -> Tensor:
        """Rows (…, hidden) to rows. `layout.unpack(rows)` gives (batch, tokens, hidden), `layout.mask` says which are real."""
        raise NotImplementedError

    def forward_first(self, rows: Tensor, layout: Layout, record: Record) -> Tensor:
        """The same for the first token of each sequence alone."""
        return layout.first(self.forward(rows, layout, record))
