"""Keeps some neurons of each feed-forward block, or of each hidden layer and set of filters of a network without them."""

from niwaki.models.anatomy import Anatomy, Network
from niwaki.models.block import Block
from niwaki.models.edit import Edit, check_shared_alike, per_layer
from niwaki.models.sizes import update_ffn_size


class Ffn(Edit):
    keep: list[list[int] | int]  # per distinct layer: the neurons, or how many of the first

    def apply(self, network: Network, anatomy: Anatomy) -> None:
        kept = per_layer(self.keep, [block.ffn_size for block in anatomy.blocks], "ffn")
        check_shared_alike(
            "ffn", ((f"layer {number}", anatomy.blocks[number].maker, keep) for number, keep in enumerate(kept))
        )
        cut: dict[int, Block] = {}  # by what made the neurons before
        alive = []
        for number, neurons in enumerate(kept):
            block = anatomy.blocks[number]  # asked anew: a cut may move what the next one's reader is shown
            maker = block.maker
            alive.append(maker)
            if id(maker) in cut:
                block.share(cut[id(maker)])
            else:
                block.keep(neurons)
                cut[id(maker)] = block
        update_ffn_size(anatomy)

    def for_blueprint(self) -> "Ffn":
        return Ffn(keep=[keep if isinstance(keep, int) else len(keep) for keep in self.keep])
