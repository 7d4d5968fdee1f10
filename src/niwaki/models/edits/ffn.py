"""Keeps some neurons of each feed-forward block."""

from niwaki.models.anatomy import Anatomy, Network
from niwaki.models.edit import Edit, per_layer
from niwaki.models.slicing import cut_linear


class Ffn(Edit):
    keep: list[list[int] | int]  # per distinct layer: the neurons, or how many of the first

    def apply(self, network: Network, anatomy: Anatomy) -> None:
        kept = per_layer(self.keep, [layer.neurons for layer in anatomy.layers], "ffn")
        for layer, neurons in zip(anatomy.layers, kept, strict=True):
            layer.replace("ffn_in", cut_linear(layer.part("ffn_in"), outputs=neurons))
            layer.replace("ffn_out", cut_linear(layer.part("ffn_out"), inputs=neurons))
        widths = {layer.neurons for layer in anatomy.layers}
        if len(widths) == 1:
            setattr(network.config, anatomy.neurons_key, widths.pop())

    def recorded(self) -> "Ffn":
        return Ffn(keep=[keep if isinstance(keep, int) else len(keep) for keep in self.keep])
