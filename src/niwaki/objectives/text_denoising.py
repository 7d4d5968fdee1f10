"""Text denoising: a text is read with noise and generated as it was.

Papers: Lewis et al. 2020, BART (arXiv 1910.13461): mask, delete, infill, permute, rotate, and combined, which permutes sentences and infills
30 % of the tokens. Raffel et al. 2020, T5 (arXiv 1910.10683): bert, shuffle, and mask at a rate of 0.15 (there called MASS-style).
"""

from typing import ClassVar, Literal

from niwaki.core.settings import Settings, setting
from niwaki.objectives._denoising import Denoising, DenoisingSettings


class TextDenoisingSettings(DenoisingSettings):
    noise: Literal["mask", "bert", "delete", "infill", "permute", "rotate", "shuffle", "combined"] = setting(
        "combined", "how a text is changed"
    )
    rate: float = setting(
        0.3, "share of tokens that are changed, unless the noise changes their order alone", gt=0, lt=1
    )
    mean_span: float = setting(3.0, "infill, combined: mean of the Poisson distribution of lengths", ge=1, le=1000)


class TextDenoising(Denoising):
    settings: ClassVar[type[Settings]] = TextDenoisingSettings
