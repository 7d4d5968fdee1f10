"""Removes whole decoder layers: keeps evenly spaced ones, or those whose removal increases the loss most.

A deep encoder with a shallow decoder is as accurate and faster: the encoder runs once, the decoder for every token.

Paper: Kasai et al. 2021, Deep Encoder, Shallow Decoder (arXiv 2006.10369); layers chosen as in 'layers' (Sajjad et al. 2023).
Cost: `worth` runs the batches once for every remaining layer and every removed layer; `spread` costs nothing.
"""

from niwaki.core.errors import InputError
from niwaki.methods.prune._depth import Depth
from niwaki.models.edits.decoder import Decoder as DecoderEdit
from niwaki.models.model import Model
from niwaki.models.sizes import decoder_depth


class Decoder(Depth):
    def depth(self, model: Model) -> int:
        if "decoder layer" not in model.anatomy.stacks:
            raise InputError("decoder: this model has no decoder; 'layers' removes layers of an encoder")
        return decoder_depth(model.anatomy)

    def edit(self, keep: list[int] | int) -> DecoderEdit:
        return DecoderEdit(keep=keep)
