"""Takes whole layers of a decoder out: all but those that are evenly spread, or but those that the loss misses most.

A deep encoder with a shallow decoder writes as well, and faster: the encoder runs once, the decoder for every token.

Paper: Kasai et al. 2021, Deep Encoder, Shallow Decoder (arXiv 2006.10369); layers chosen as 'layers' does (Sajjad et al. 2023).
Cost: `worth` runs the batches once for every layer and every layer that goes; `spread` costs nothing.
"""

from niwaki.core.errors import InputError
from niwaki.methods.prune._depth import Depth
from niwaki.models.edits.decoder import Decoder as DecoderEdit
from niwaki.models.model import Model
from niwaki.models.sizes import decoder_depth


class Decoder(Depth):
    def depth(self, model: Model) -> int:
        if "decoder layer" not in model.anatomy.stacks:
            raise InputError("decoder: this model has no decoder; 'layers' takes out layers of an encoder")
        return decoder_depth(model.anatomy)

    def edit(self, keep: list[int] | int) -> DecoderEdit:
        return DecoderEdit(keep=keep)
