"""Two matrices side by side, one of them behind an activation, whose outputs are multiplied; then a third one (Shazeer 2020)."""

from torch import Tensor

from niwaki.models.block import Block
from niwaki.models.parts.feed_forwards.dense import Dense
from niwaki.models.parts.mixers.attention import apply_together


class Gated(Dense):
    from_hidden = ("ffn_gate", "ffn_in")
    native = "gated"

    def forward(self, rows: Tensor) -> Tensor:
        layer = self.layer
        if self.removed:
            return layer.part("ffn_out")(rows)
        gate, linear = apply_together([layer.part(role) for role in self.from_hidden], rows)
        return layer.part("ffn_out")(layer.drop("inner_dropout", layer.part("activation")(gate) * linear))

    def blocks(self, key: str) -> list[Block]:
        first, last, gate = (self.layer.path(role) for role in ("ffn_in", "ffn_out", "ffn_gate"))
        return [Block(self.layer.module, first, last, key=key, gate_path=gate)]
