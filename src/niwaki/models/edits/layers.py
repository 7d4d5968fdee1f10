"""Keeps some whole layers."""

from niwaki.core.errors import InputError
from niwaki.models.anatomy import Anatomy, Network
from niwaki.models.edit import Edit, resolve_indices
from niwaki.models.head_order import forget_head_order
from niwaki.models.sizes import keep_layers


class Layers(Edit):
    """A blueprint stores the numbers, because pruned layers may differ in shape."""

    keep: list[int] | int  # layers in the order in which they run, or the number of first layers

    def apply(self, network: Network, anatomy: Anatomy) -> None:
        anatomy.require_layers("layers")
        keep = resolve_indices(self.keep, len(anatomy.order), "layers")
        if len(anatomy.layers) == len(anatomy.order):
            keep_layers(anatomy, keep)
        elif len(anatomy.layers) > 1:
            raise InputError(
                "layers: this model runs several layers several times; only models that share one layer, or none, can be cut"
            )
        for config in (network.config, anatomy.trunk.config):  # an encoder–decoder has a copy
            setattr(config, anatomy.family.keys.depth, len(keep))  # a shared layer runs fewer times
        types = getattr(network.config, "layer_types", None)  # of networks whose layers differ
        if types:
            network.config.layer_types = anatomy.trunk.config.layer_types = [types[number] for number in keep]
        if getattr(network.config, "niwaki_exits", None):
            network.config.niwaki_exits = None  # they were trained on other layers
        forget_head_order(network)
