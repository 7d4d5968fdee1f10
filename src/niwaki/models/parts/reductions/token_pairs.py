"""Each two neighbouring tokens become their mean (Funnel-Transformer, Dai et al. 2020); the first token of a text stays as it is."""

from torch import Tensor, nn

from niwaki.core.settings import Settings
from niwaki.models.layout import Layout
from niwaki.models.parts.reductions._reduction import Reduction
from niwaki.models.shortening import paired


class TokenPairs(Reduction, nn.Module):
    no_native = "all layers have the same rows there"

    def __init__(self, hidden_size: int, settings: Settings) -> None:
        nn.Module.__init__(self)

    def forward(self, rows: Tensor, layout: Layout) -> tuple[Tensor, Layout]:
        return paired(rows, layout)
