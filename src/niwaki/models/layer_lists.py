"""Networks that keep the parts of their layers in lists of their own (XLM): all attentions in one, all norms in another. Here each layer holds
its parts, so that it can be moved and removed; tensors are saved under the names of the lists."""

import re
from collections.abc import Mapping

from torch import Tensor, nn

from niwaki.models.family import Family, Network

LAYER = "layer"  # the list of whole layers


def group_layers(network: Network, family: type[Family]) -> None:
    """Puts a list of layers in place of the lists that the family names."""
    assert family.layer is not None
    lists = dict(family.layer.stack.lists)
    trunk = network.get_submodule(family.body)
    if LAYER in trunk._modules:
        return
    found = [trunk._modules.pop(name) for name in lists.values()]
    layers = [nn.ModuleDict(dict(zip(lists, parts, strict=True))) for parts in zip(*found, strict=True)]
    trunk.add_module(LAYER, nn.ModuleList(layers))
    trunk.__class__ = type(type(trunk).__name__, (type(trunk),), {name: _view(part) for part, name in lists.items()})


def _view(part: str) -> property:
    """What transformers' own forward pass reads."""

    def parts(trunk: Network) -> list[nn.Module]:
        return [layer[part] for layer in trunk.layer]

    return property(parts)


def listed_names(tensors: Mapping[str, Tensor], family: type[Family]) -> dict[str, Tensor]:
    """The tensors under the names of the lists."""
    assert family.layer is not None
    lists = dict(family.layer.stack.lists)
    begin = re.compile(rf"^{re.escape(family.body)}\.{LAYER}\.(\d+)\.(\w+)\.")

    def name_in_list(found: re.Match[str]) -> str:
        return f"{family.body}.{lists[found[2]]}.{found[1]}."

    return {begin.sub(name_in_list, name): value for name, value in tensors.items()}
