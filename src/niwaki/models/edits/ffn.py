"""Keeps some neurons of each feed-forward block or, in networks without attention, of each hidden layer and set of filters."""

from niwaki.models.anatomy import Anatomy, Network
from niwaki.models.block import Block
from niwaki.models.edit import Edit, check_shared_alike, per_layer
from niwaki.models.sizes import update_ffn_size


class Ffn(Edit):
    keep: list[list[int] | int]  # for each distinct layer, the neurons or the number of first neurons

    def apply(self, network: Network, anatomy: Anatomy) -> None:
        remaining = per_layer(self.keep, [block.ffn_size for block in anatomy.blocks], "ffn")
        check_shared_alike(
            "ffn", ((f"layer {number}", anatomy.blocks[number].producer, keep) for number, keep in enumerate(remaining))
        )
        cut: dict[int, Block] = {}  # by the matrix that computed the neurons before
        alive = []
        for number, neurons in enumerate(remaining):
            block = anatomy.blocks[
                number
            ]  # read again: cutting one block may change the inputs of the next one's second matrix
            maker = block.producer
            alive.append(maker)
            if id(maker) in cut:
                block.share(cut[id(maker)])
            else:
                block.keep(neurons)
                cut[id(maker)] = block
        update_ffn_size(anatomy)

    def for_blueprint(self) -> "Ffn":
        return Ffn(keep=[keep if isinstance(keep, int) else len(keep) for keep in self.keep])
