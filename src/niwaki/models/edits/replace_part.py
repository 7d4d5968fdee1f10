"""Puts another mixer, feed-forward block, reduction or head into a network."""

from typing import Literal, cast

import torch
from pydantic import Field
from torch import nn

from niwaki.core.errors import InputError
from niwaki.core.seeds import derive
from niwaki.core.settings import Settings, check
from niwaki.models.anatomy import HEAD, Anatomy, Network, require_equal_sizes
from niwaki.models.edit import Edit, resolve_indices
from niwaki.models.layer import REDUCTION, Layer, reduction_of
from niwaki.models.parts._part import Part
from niwaki.models.parts.feed_forwards._feed_forward import FEED_FORWARDS, FeedForward
from niwaki.models.parts.heads._head import HEADS, TaskHead
from niwaki.models.parts.mixers._mixer import MIXERS, Mixer
from niwaki.models.parts.reductions._reduction import REDUCTIONS, Reduction

Slot = Literal["mixer", "feed_forward", "reduction", "head"]
Value = bool | int | float | str | None
CATALOGS = {
    "mixer": (MIXERS, Mixer),
    "feed_forward": (FEED_FORWARDS, FeedForward),
    "reduction": (REDUCTIONS, Reduction),
    "head": (HEADS, TaskHead),
}


class ReplacePart(Edit):
    """The new part begins with random weights. Norms, residual connections and dropout stay the layer's."""

    slot: Slot
    part: str  # name in the catalogue of the slot
    layers: list[int] = Field(default_factory=list)  # distinct layers of the encoder that get the part; none for a head
    settings: dict[str, Value] = Field(default_factory=dict)  # of the part
    seed: int = 0

    def apply(self, network: Network, anatomy: Anatomy) -> None:
        kind = part_class(self.slot, self.part)
        settings = check(kind.settings, dict(self.settings), f"replace_part: {self.part}")
        if self.slot == "head":
            self._replace_head(network, anatomy, kind, settings)
            return
        require_equal_sizes(anatomy, "replace_part")
        if anatomy.decoder is not None and not anatomy.decoder.has_own_layers:
            raise InputError(
                "replace_part: the encoder's layers generate here, which needs attention; add a decoder with layers"
            )
        layers = anatomy.layers
        for number in resolve_indices(self.layers, len(layers), "replace_part: layers"):
            layer = layers[number]
            module = self._built(kind, layer.part(layer.norms[0]).weight, anatomy.hidden_size, settings, number)
            put_into(layer, self.slot, module)
            reduction = reduction_of(layer)
            if reduction is not None and reduction.needs_attention and not layer.mixer.shows_attention:
                raise InputError(
                    f"replace_part: layer {number} chooses tokens by attention ('{reduction.label()}'), and mixer '{layer.mixer.label()}' shows none; name other layers"
                )

    def _replace_head(self, network: Network, anatomy: Anatomy, kind: type[Part], settings: Settings) -> None:
        old, new = anatomy.head, cast(type[TaskHead], kind)
        if anatomy.is_seq2seq or new.per_token != old.per_token or new.architecture != old.architecture:
            raise InputError(
                f"replace_part: head '{self.part}' is for {new.architecture or 'no architecture'}, and the model has {old.architecture}"
            )
        like = next(network.parameters())
        module = self._built(kind, like, anatomy.hidden_size, settings, int(network.config.num_labels))
        for path in filter(None, (*old.inner, old.final)):
            network.set_submodule(path, nn.Identity())
        if not anatomy.layers:
            network.remove_head()
        network._modules.pop(HEAD, None)
        network.add_module(HEAD, module)

    def _built(
        self, kind: type[Part], like: torch.Tensor, hidden_size: int, settings: Settings, number: int
    ) -> nn.Module:
        """On the device of the network; a skeleton's takes no memory. `number` is that of the layer, or of the labels."""
        more = (number,) if self.slot == "head" else ()
        with torch.random.fork_rng(devices=[]), torch.device(like.device):
            torch.manual_seed(derive(self.seed, f"{self.slot} {number}"))
            module: nn.Module = cast(type[nn.Module], kind)(hidden_size, *more, settings)
        return module.eval()


def part_class(slot: Slot, name: str) -> type[Part]:
    """The class of a part that can be put into a network."""
    catalog, base = CATALOGS[slot]
    kind = cast(type[Part], catalog.load(name, base))
    if not issubclass(kind, nn.Module):
        names = [other for other in catalog.names() if issubclass(catalog.load(other, base), nn.Module)]
        known = ", ".join(names) or "none is installed"
        raise InputError(
            f"replace_part: {catalog.what} '{name}' is made of a family's modules; take one that is a module itself ({known})"
        )
    return cast(type[Part], kind)


def put_into(layer: Layer, slot: str, module: nn.Module) -> None:
    """The matrices of the part before go; what other layers share with it stays theirs."""
    for role in () if slot == REDUCTION else layer.matrices(slot):
        if "." not in role:  # of the family's own modules
            layer.replace(role, nn.Identity())
    layer.module._modules.pop(slot, None)
    layer.module.add_module(slot, module)
    module.train(layer.module.training)
