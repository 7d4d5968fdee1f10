"""The tokens that get the most attention stay (PoWER-BERT, Goyal et al. 2020)."""

from torch import Tensor, nn

from niwaki.core.settings import Settings, setting
from niwaki.models.layout import Layout
from niwaki.models.parts.reductions._reduction import Reduction
from niwaki.models.shortening import Share, most_attended


class TopTokensSettings(Settings):
    share: float = setting(
        0.8, "share of the tokens that stay; rounded to thousandths, and texts up to whole tokens", gt=0, le=1
    )
    min_tokens: int = setting(32, "tokens of a text that stay at least", ge=1, le=65_536)


class TopTokens(Reduction, nn.Module):
    """Attention is summed over heads and over the tokens that give it."""

    no_native = "all layers have the same rows there"
    settings = TopTokensSettings
    needs_attention = True

    def __init__(self, hidden_size: int, settings: TopTokensSettings) -> None:
        nn.Module.__init__(self)
        self.left = Share(max(1, round(1000 * settings.share)), settings.min_tokens)

    def forward(self, rows: Tensor, layout: Layout) -> tuple[Tensor, Layout]:
        return most_attended(rows, layout, self.left)
