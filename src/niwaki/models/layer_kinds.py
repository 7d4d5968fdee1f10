"""How a family's layers compute: plainly, between bottlenecks, or plainly with sizes that stay."""

from torch import nn

from niwaki.models.bottleneck_layer import BottleneckLayer
from niwaki.models.family import Family
from niwaki.models.fixed_layer import FixedLayer
from niwaki.models.layer import Layer

KINDS: dict[str, type[Layer]] = {"plain": Layer, "bottleneck": BottleneckLayer, "fixed": FixedLayer}


def layer_of(family: type[Family], module: nn.Module) -> Layer:
    """A module of a network as a layer of its family."""
    assert family.layer is not None
    return KINDS[family.layer.stack.kind](module, family.layer)
