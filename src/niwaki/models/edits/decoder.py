"""Keeps some whole layers of a decoder."""

from niwaki.core.errors import InputError
from niwaki.models.anatomy import Anatomy, Network
from niwaki.models.edit import Edit, resolve_indices


class Decoder(Edit):
    """A blueprint stores the numbers, because pruned layers may differ in shape."""

    keep: list[int] | int  # layers in the order in which they run, or the number of first layers

    def apply(self, network: Network, anatomy: Anatomy) -> None:
        decoder = anatomy.decoder
        if decoder is None or not decoder.has_own_layers:
            raise InputError("decoder: this model has no decoder")
        decoder.keep_layers(resolve_indices(self.keep, len(decoder.layers), "decoder"))
