"""A mixer lets the tokens of a sequence exchange information: attention, or what takes its place."""

from collections.abc import Sequence
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
    key_heads: list[int] | None = None  # for each head the one whose keys it reads; None: its own
    window: int = 0  # tokens this far away or further are not attended to; 0: all are
    max_tokens: int = 0  # of the longest text; 0: any length
    shows_attention: ClassVar[bool] = (
        False  # whether it goes through `layout.attend`, which can sum up what tokens receive
    )
    relative: ClassVar[bool] = False  # whether `relative_scores` gives anything
    removed: bool = False  # whether only the bias of its output matrix is left (`edits/blocks.py`)

    @property
    def matrices(self) -> tuple[str, ...]:
        """Roles of all matrices."""
        return *self.from_hidden, *self.to_hidden

    @property
    def constants(self) -> tuple[object, ...]:
        """What a config decides and no tensor shows."""
        return self.heads, self.head_size

    def forward(self, rows: Tensor, layout: Layout, record: Record) -> Tensor:
        """Rows (…, hidden) to rows. `layout.unpack(rows)` gives (batch, tokens, hidden), `layout.mask` says which are real."""
        raise NotImplementedError

    def forward_first(self, rows: Tensor, layout: Layout, record: Record) -> Tensor:
        """The same for the first token of each sequence alone."""
        return layout.first(self.forward(rows, layout, record))

    def place(self, query: Tensor, key: Tensor, layout: Layout) -> tuple[Tensor, Tensor]:
        """Queries and keys as their positions change them. Fewer queries than keys are those of the first tokens."""
        return query, key

    def relative_scores(
        self, query: Tensor, key: Tensor, tokens: int, every: bool, types: Tensor | None = None
    ) -> Tensor | None:
        """What is added to the scores of queries (batch, heads, rows, head size) and keys (batch, heads, tokens, head size), by content and
        distance. The rows are those of all tokens (`every`), or of the first alone; `types` (batch, tokens) are the token types
        of families whose attention reads them. In exported graphs only `tokens` is right for any length."""
        return None

    def keep_heads(self, heads: Sequence[int]) -> None:
        """Called before the matrices are cut to these heads: for what depends on heads and is no matrix."""
