"""Sliding-window attention with global tokens (Longformer, Beltagy et al. 2020): time and memory grow linearly with the text."""

from typing import ClassVar

from torch import Tensor, nn

from niwaki.core.settings import setting
from niwaki.models.layout import Layout
from niwaki.models.parts.mixers._projected import Projected, ProjectedSettings
from niwaki.models.window_attention import Reach, window_attention


class WindowSettings(ProjectedSettings):
    window: int = setting(64, "tokens on each side that a token attends to", ge=1, le=65_536)
    dilation: int = setting(
        1, "2 attends to every second token, so that the same window reaches twice as far", ge=1, le=1024
    )
    global_tokens: int = setting(1, "first tokens of a text that attend to all, and all to them", ge=0, le=1024)
    dropout: float = setting(0.0, "share of attention weights dropped while training", ge=0, lt=1)


class Window(Projected):
    """A window that reaches over the whole text is plain attention."""

    settings = WindowSettings
    native: ClassVar[str | None] = "window"

    def __init__(self, hidden_size: int, settings: WindowSettings) -> None:
        super().__init__(hidden_size, settings)
        self.window, self.dilation, self.global_tokens = settings.window, settings.dilation, settings.global_tokens
        self.drop = nn.Dropout(settings.dropout)

    @property
    def reads_all_first(self) -> bool:
        return self.global_tokens > 0

    def mix(self, query: Tensor, key: Tensor, value: Tensor, layout: Layout) -> Tensor:
        reach = Reach(self.window, self.global_tokens, layout.causal, self.dilation)
        return window_attention(query, key, value, layout.mask, reach, self.bias_at(layout), self.drop)
