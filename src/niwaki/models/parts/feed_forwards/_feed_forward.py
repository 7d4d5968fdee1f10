"""A feed-forward block works on each token by itself."""

from torch import Tensor

from niwaki.core.catalog import Catalog
from niwaki.models.block import Block
from niwaki.models.layout import Layout
from niwaki.models.parts._part import Part
from niwaki.models.record import Record

FEED_FORWARDS = Catalog("niwaki.models.parts.feed_forwards", what="feed-forward block")


class FeedForward(Part):
    """Base of the files in `parts/feed_forwards/`. Norm and residual connection are the layer's.

    One that is an `nn.Module` is built as `FeedForward(hidden_size, settings)`.
    """

    ffn_size: int = 0

    def forward(self, rows: Tensor) -> Tensor:
        """Rows (…, hidden) to rows."""
        raise NotImplementedError

    def forward_in(self, rows: Tensor, layout: Layout | None, record: Record) -> Tensor:
        """The same for parts that look at a whole text, or have activations to record. A decoder has no layout."""
        return self.forward(rows)

    def blocks(self, key: str) -> list[Block]:
        """Groups of neurons that can be cut; `key` of the config states how many there are."""
        return []
