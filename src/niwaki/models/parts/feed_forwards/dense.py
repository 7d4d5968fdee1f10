"""Two matrices with an activation between them (Vaswani et al. 2017), from a family's modules."""

from typing import TYPE_CHECKING, ClassVar

from torch import Tensor

from niwaki.models.block import Block
from niwaki.models.fused import feed_forward
from niwaki.models.packed.removed import Removed
from niwaki.models.parts.feed_forwards._feed_forward import FeedForward

if TYPE_CHECKING:
    from niwaki.models.layer import Layer


class Dense(FeedForward):
    from_hidden: ClassVar[tuple[str, ...]] = ("ffn_in",)
    to_hidden = ("ffn_out",)
    native: ClassVar[str | None] = "dense"

    def __init__(self, layer: "Layer") -> None:
        self.layer = layer

    @property
    def removed(self) -> bool:
        """Whether only the bias of its last matrix is left (`edits/blocks.py`)."""
        return isinstance(self.layer.part("ffn_out"), Removed)

    @property
    def ffn_size(self) -> int:  # type: ignore[override]
        return self.layer.part("ffn_in").out_features

    def forward(self, rows: Tensor) -> Tensor:
        layer = self.layer
        if self.removed:
            return layer.part("ffn_out")(rows)
        first, activation, second = (layer.part(role) for role in ("ffn_in", "activation", "ffn_out"))
        if not layer.dropout_rate("inner_dropout") and feed_forward.fits(rows, first, activation, second):
            return feed_forward.feed_forward(rows, first, activation, second)
        return second(layer.drop("inner_dropout", activation(first(rows))))

    def blocks(self, key: str) -> list[Block]:
        return [Block(self.layer.module, self.layer.path("ffn_in"), self.layer.path("ffn_out"), key=key)]
