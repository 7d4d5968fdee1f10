"""Removes whole attention and feed-forward blocks; the norms and the last biases of their layers stay.

The modules that transformers expects also stay, reduced to one head or one neuron; inference skips them.
"""

from niwaki.core.errors import InputError
from niwaki.models.anatomy import Anatomy, Network, require_equal_sizes
from niwaki.models.edit import Edit
from niwaki.models.edits.heads import cut_heads, record_heads
from niwaki.models.layer import Layer
from niwaki.models.module_paths import SharedReplacement, to_dense
from niwaki.models.packed.removed import Removed
from niwaki.models.slicing import cut_linear

LAST = {"attention": "out", "ffn": "ffn_out"}  # the last matrix of a block


class Blocks(Edit):
    attention: list[int]  # the attention blocks to remove
    ffn: list[int]  # the feed-forward blocks to remove

    def apply(self, network: Network, anatomy: Anatomy) -> None:
        require_equal_sizes(anatomy, "blocks")
        layers = {what: layers_with_block(anatomy, what) for what in LAST}
        for what in LAST:
            self._check_numbers(what, layers[what])
        for kind in attention_kinds(anatomy):
            if set(kind) <= {*self.attention, *gone(layers["attention"], "attention")}:
                raise InputError(
                    "blocks: at least one attention block of each kind must stay, because tokens need to attend to each other"
                )
        for number in self.attention:
            remove_attention(layers["attention"][number])
        for number in self.ffn:
            remove_ffn(layers["ffn"][number])

    def _check_numbers(self, what: str, layers: list[Layer]) -> None:
        numbers, there = getattr(self, what), set(range(len(layers))) - set(gone(layers, what))
        if len(set(numbers)) != len(numbers) or not set(numbers) <= there:
            raise InputError(
                f"blocks: {what} must name different layers that have the block, of {len(layers)} (given: {str(numbers)[:60]})"
            )


def layers_with_block(anatomy: Anatomy, what: str) -> list[Layer]:
    """The layers that have or had a block of this kind, in the order of the edit's numbers."""
    if what == "attention":
        return anatomy.attentions
    return [layer for layer in anatomy.every_layer if "ffn_out" in layer.matrices()]


def attention_kinds(anatomy: Anatomy) -> list[list[int]]:
    """The numbers of `attentions` that read the same for the same: an encoder's are all of one kind, a decoder's of two."""
    kinds: dict[tuple[str, int], list[int]] = {}
    number = 0
    for name, stack in anatomy.stacks.items():
        for whole in stack:
            for place, layer in enumerate(whole):
                if layer.has_attention:
                    kinds.setdefault((name, place), []).append(number)
                    number += 1
    return list(kinds.values())


def gone(layers: list[Layer], what: str) -> list[int]:
    """Numbers of the layers whose block has been removed."""
    return [number for number, layer in enumerate(layers) if isinstance(layer.part(LAST[what]), Removed)]


def remove_attention(layer: Layer) -> None:
    """Other layers keep the matrices that they share with this one."""
    record_heads(layer, [0])
    cut_heads(layer, [0], SharedReplacement())
    replace_with_removed(layer, "out")


def remove_ffn(layer: Layer) -> None:
    for role in layer.feed_forward.from_hidden:
        layer.replace(role, cut_linear(layer.part(role), outputs=[0]))
    layer.replace("ffn_out", cut_linear(layer.part("ffn_out"), inputs=[0]))
    replace_with_removed(layer, "ffn_out")


def replace_with_removed(layer: Layer, part: str) -> None:
    found = to_dense(layer.part(part))
    layer.replace(part, Removed(found.in_features, found.out_features, found.bias))
