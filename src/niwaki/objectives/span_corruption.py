"""Span corruption: parts of a text are hidden, and they alone are generated.

The encoder reads a sentinel token in place of each hidden span; the decoder generates each sentinel with the tokens of its span. Targets are
short, so a step costs less than with `text_denoising`. Bytes need longer spans: `mean_span = 20` (ByT5).

Papers: Raffel et al. 2020, T5 (arXiv 1910.10683); Xue et al. 2022, ByT5 (arXiv 2105.13626).
"""

from typing import ClassVar, Literal

from niwaki.core.settings import Settings, setting
from niwaki.objectives._denoising import Denoising, DenoisingSettings


class SpanCorruptionSettings(DenoisingSettings):
    noise: Literal["spans", "tokens", "drop"] = setting(
        "spans", "what is hidden: spans, tokens one by one, or such tokens without a sentinel in their place"
    )


class SpanCorruption(Denoising):
    settings: ClassVar[type[Settings]] = SpanCorruptionSettings

    def sentinels(self) -> int:
        return 0 if self._settings.noise == "drop" else 2  # of one span, and behind it
