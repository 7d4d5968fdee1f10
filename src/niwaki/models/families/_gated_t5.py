"""T5 1.1 (Shazeer 2020): T5 with gated feed-forward blocks. Flan-T5, ByT5 and mT5 have them too."""

from dataclasses import replace

from niwaki.models.families.t5 import CROSS, T5
from niwaki.models.family import LayerPaths, StackRules


def gated(paths: LayerPaths) -> LayerPaths:
    return replace(
        paths,
        ffn_gate=f"{paths.ffn_in}_0",
        ffn_in=f"{paths.ffn_in}_1",
        stack=StackRules(feed_forward="gated"),
    )


class GatedT5(T5):
    layer = gated(T5.layer)
    decoder = replace(T5.decoder, cross=gated(CROSS))
