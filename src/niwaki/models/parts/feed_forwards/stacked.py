"""The last of several dense blocks in one layer (MobileBERT, Sun et al. 2020), with the matrices of all of them."""

from niwaki.models.block import Block
from niwaki.models.parts.feed_forwards.dense import Dense

EARLIER, LAST = "ffn", "output.bottleneck.dense"  # where the other blocks lie, and the matrix behind all of them


class Stacked(Dense):
    native = None
    no_native = "a layer has several blocks, whose norms have no statistics"
    from_hidden = ()
    to_hidden = (LAST,)

    @property
    def earlier(self) -> list[str]:
        return [f"{EARLIER}.{name}" for name, _ in self.layer.module.get_submodule(EARLIER).named_children()]

    @property
    def between(self) -> tuple[str, ...]:  # type: ignore[override]
        both = ("intermediate.dense", "output.dense")
        return (*(f"{path}.{matrix}" for path in self.earlier for matrix in both), "ffn_in", "ffn_out")

    def blocks(self, key: str) -> list[Block]:
        module = self.layer.module
        found = [Block(module, f"{path}.intermediate.dense", f"{path}.output.dense", key=key) for path in self.earlier]
        return [*found, *super().blocks(key)]
