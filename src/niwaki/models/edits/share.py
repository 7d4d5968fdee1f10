"""Lets layers share their matrices; each layer keeps its own norms."""

from collections.abc import Iterator
from typing import Literal

from niwaki.core.errors import InputError
from niwaki.models.anatomy import Anatomy, Network
from niwaki.models.edit import Edit
from niwaki.models.layer import FEED_FORWARD, MIXER, Layer

SLOTS = {"all": (MIXER, FEED_FORWARD), "attention": (MIXER,), "ffn": (FEED_FORWARD,)}
Whole = tuple[Layer, ...]  # the attention blocks of one layer


class Share(Edit):
    of: list[int]  # for each layer, the layer whose matrices it uses; decoder layers come last
    what: Literal["all", "attention", "ffn"] = "all"

    def apply(self, network: Network, anatomy: Anatomy) -> None:
        anatomy.require_layers("share")
        layers = [layer for stack in anatomy.stacks.values() for layer in stack]
        if len(self.of) != len(layers) or any(not 0 <= number < len(layers) for number in self.of):
            raise InputError(
                f"share: must name one of {len(layers)} layers for each of them (given: {str(self.of)[:60]})"
            )
        encoder = list(range(len(anatomy.layers)))
        if len(encoder) != len(anatomy.order) and (self.of == encoder or self.of[: len(encoder)] != encoder):
            raise InputError("share: the layers of this model are already shared")
        for number, other in enumerate(self.of):
            if self.of[other] != other:
                raise InputError(
                    f"share: layer {number} takes the matrices of layer {other}, which takes those of another"
                )
            self._check_same_shapes(layers[number], layers[other], number, other)
        for number, other in enumerate(self.of):
            for own, theirs, part in parts_of(layers[number], layers[other], self.what):
                own.replace(part, theirs.part(part))

    def _check_same_shapes(self, own: Whole, theirs: Whole, number: int, other: int) -> None:
        if len(own) != len(theirs):
            raise InputError(f"share: layer {number} takes the matrices of layer {other}, one a decoder's and one not")
        if any(mine.matrices() != yours.matrices() for mine, yours in zip(own, theirs, strict=True)):
            raise InputError(
                f"share: layers {number} and {other} are made of different parts; share before replacing them"
            )
        for mine, yours, part in parts_of(own, theirs, self.what):
            have, want = (layer.part(part) for layer in (mine, yours))
            if (have.in_features, have.out_features) != (want.in_features, want.out_features):
                raise InputError(
                    f"share: {part} of layers {other} and {number} differ in shape "
                    f"({want.in_features} → {want.out_features} and {have.in_features} → {have.out_features}); share before cutting"
                )


def parts_of(own: Whole, theirs: Whole, what: str) -> Iterator[tuple[Layer, Layer, str]]:
    """The matrices that two layers may share: both owners and the name of the matrix."""
    for mine, yours in zip(own, theirs, strict=True):
        for part in mine.matrices(*SLOTS[what]):
            yield mine, yours, part
