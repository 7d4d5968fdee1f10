"""Layers of MobileBERT (Sun et al. 2020): attention and several feed-forward blocks between a matrix that makes hidden states narrow and
one that makes them wide again. Only what goes in and comes out is a hidden state."""

from torch import Tensor

from niwaki.models.layer import Layer, merged
from niwaki.models.layout import Layout
from niwaki.models.record import Record

BOTTLENECK, OUTPUT = "bottleneck.input", "output.bottleneck"


class BottleneckLayer(Layer):
    fixed = (
        "the layers of this family have bottlenecks of a size of their own; take 'heads', 'ffn', 'layers' or 'vocabulary', which cut them, "
        "or a method that packs matrices"
    )

    @property
    def norms(self) -> list[str]:
        """The one of hidden states; the others are narrower."""
        return [f"{OUTPUT}.LayerNorm"]

    def run(self, rows: Tensor, layout: Layout, every: bool, record: Record) -> tuple[Tensor, Layout]:
        wanted = rows if every else layout.first(rows)
        mixed = (self.mixer.forward if every else self.mixer.forward_first)(rows, layout, record)
        narrow = merged(self, self.part(BOTTLENECK)(wanted), mixed, "out_dropout", "attention_norm")
        for block in self.module.get_submodule("ffn").children():
            narrow = block(narrow)
        return self.part(OUTPUT)(self.feed(narrow, layout, record), wanted), layout
