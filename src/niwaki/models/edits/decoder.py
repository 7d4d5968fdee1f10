"""Keeps some whole layers of a decoder."""

from niwaki.core.errors import InputError
from niwaki.models.anatomy import Anatomy, Network
from niwaki.models.edit import Edit, resolve_indices


class Decoder(Edit):
    """Recorded with its numbers: layers that were cut before may differ in shape."""

    keep: list[int] | int  # which layers, in the order they shall run, or how many of the first

    def apply(self, network: Network, anatomy: Anatomy) -> None:
        if not anatomy.has_decoder:
            raise InputError("decoder: this model has no decoder")
        anatomy.keep_decoder_layers(resolve_indices(self.keep, len(anatomy.stacks["decoder layer"]), "decoder"))
