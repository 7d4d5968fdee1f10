"""Keeps some whole layers."""

from niwaki.core.errors import InputError
from niwaki.models.anatomy import Anatomy, Network
from niwaki.models.edit import Edit, resolve_indices
from niwaki.models.sizes import keep_layers


class Layers(Edit):
    """Recorded with its numbers: layers that were cut before may differ in shape."""

    keep: list[int] | int  # which layers, in the order they shall run, or how many of the first

    def apply(self, network: Network, anatomy: Anatomy) -> None:
        anatomy.require_layers("layers")
        keep = resolve_indices(self.keep, len(anatomy.order), "layers")
        if len(anatomy.layers) == len(anatomy.order):
            keep_layers(anatomy, keep)
        elif len(anatomy.layers) > 1:
            raise InputError(
                "layers: this model runs several layers several times; only models that share one layer, or none, can be cut"
            )
        for config in (network.config, anatomy.trunk.config):  # an encoder with a decoder behind it has a copy
            setattr(config, anatomy.family.keys.depth, len(keep))  # a shared layer just runs fewer times
        if getattr(network.config, "niwaki_exits", None):
            network.config.niwaki_exits = None  # they were trained on layers that now lie elsewhere
