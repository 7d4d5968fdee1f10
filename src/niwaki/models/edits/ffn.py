"""Keeps some neurons of each feed-forward block, or of each hidden layer and set of filters of a network without them."""

from niwaki.models.anatomy import Anatomy, Network
from niwaki.models.edit import Edit, per_layer


class Ffn(Edit):
    keep: list[list[int] | int]  # per distinct layer: the neurons, or how many of the first

    def apply(self, network: Network, anatomy: Anatomy) -> None:
        kept = per_layer(self.keep, [block.neurons for block in anatomy.blocks], "ffn")
        for number, neurons in enumerate(kept):
            anatomy.blocks[number].keep(neurons)  # asked anew: a cut may move what the next one's reader is shown
        anatomy.tell_neurons()

    def recorded(self) -> "Ffn":
        return Ffn(keep=[keep if isinstance(keep, int) else len(keep) for keep in self.keep])
