"""Lets layers share their matrices; each keeps norms of its own."""

from typing import Literal

from niwaki.core.errors import Refused
from niwaki.models.anatomy import Anatomy, Network
from niwaki.models.edit import Edit

PARTS = {"attention": ("query", "key", "value", "out"), "ffn": ("ffn_in", "ffn_out")}
PARTS["all"] = PARTS["attention"] + PARTS["ffn"]


class Share(Edit):
    of: list[int]  # for each layer, the one whose matrices it takes; that one must keep its own
    what: Literal["all", "attention", "ffn"] = "all"

    def apply(self, network: Network, anatomy: Anatomy) -> None:
        anatomy.require_layers("share")
        layers = anatomy.layers
        if len(layers) != len(anatomy.order):
            raise Refused("share: this model shares its layers already")
        if len(self.of) != len(layers) or any(not 0 <= number < len(layers) for number in self.of):
            raise Refused(f"share: must name one of {len(layers)} layers for each of them (given: {str(self.of)[:60]})")
        for number, other in enumerate(self.of):
            if self.of[other] != other:
                raise Refused(
                    f"share: layer {number} takes the matrices of layer {other}, which takes those of another"
                )
            for part in PARTS[self.what]:
                have, want = (layers[one].linear(part) for one in (number, other))
                if (have.in_features, have.out_features) != (want.in_features, want.out_features):
                    raise Refused(
                        f"share: {part} of layers {other} and {number} differ in shape "
                        f"({want.in_features} → {want.out_features} and {have.in_features} → {have.out_features}); share before cutting"
                    )
        for number, other in enumerate(self.of):
            for part in PARTS[self.what]:
                layers[number].replace(part, layers[other].part(part))
