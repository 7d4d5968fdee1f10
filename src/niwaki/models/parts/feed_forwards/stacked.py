"""The last of several dense blocks in one layer (MobileBERT, Sun et al. 2020), with the matrices of all of them."""

from niwaki.models.block import Block
from niwaki.models.parts.feed_forwards.dense import Dense

EARLIER, LAST = "ffn", "output.bottleneck.dense"  # where the other blocks lie, and the matrix behind all of them


class Stacked(Dense):
    native = None

    @property
    def earlier(self) -> list[str]:
        return [f"{EARLIER}.{name}" for name, _ in self.layer.module.get_submodule(EARLIER).named_children()]

    @property
    def from_hidden(self) -> tuple[str, ...]:  # type: ignore[override]
        return ("ffn_in", *(f"{path}.intermediate.dense" for path in self.earlier))

    @property
    def to_hidden(self) -> tuple[str, ...]:  # type: ignore[override]
        return ("ffn_out", *(f"{path}.output.dense" for path in self.earlier), LAST)

    def blocks(self, key: str) -> list[Block]:
        module = self.layer.module
        found = [Block(module, f"{path}.intermediate.dense", f"{path}.output.dense", key=key) for path in self.earlier]
        return [*found, *super().blocks(key)]
