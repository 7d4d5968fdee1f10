"""mBART (Liu et al. 2020): BART with norms before each block and behind the last layers, on 25 or 50 languages."""

from dataclasses import replace
from typing import ClassVar

from niwaki.models.families.bart import Bart
from niwaki.models.family import DecoderPaths, StackRules


class MBart(Bart):
    layer = replace(Bart.layer, pre_norm=True, stack=StackRules(final_norm="encoder.layer_norm"))
    decoder: ClassVar[DecoderPaths] = replace(
        Bart.decoder,
        own=replace(Bart.decoder.own, pre_norm=True),
        cross=replace(Bart.decoder.cross, pre_norm=True),
        final_norm="model.decoder.layer_norm",
        begins_with_bos=False,
    )
    tokenizers: ClassVar[tuple[str, ...]] = ("MBart", "MBart50")
