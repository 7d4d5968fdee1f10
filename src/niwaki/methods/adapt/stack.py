"""Growing depth: a deeper network whose layers are copies of the start model's, to go on pretraining.

A stage with few layers learns fast; the next stage takes its layers twice and learns the rest. Embeddings, norms and the head are kept.

Paper: Gong et al. 2019, Efficient Training of BERT by Progressively Stacking (ICML 2019); `repeat` as in Du et al. 2024 (arXiv 2405.15319).
Cost: none.
"""

from typing import Literal

import torch

from niwaki.core.errors import InputError
from niwaki.core.json_types import Json
from niwaki.core.settings import setting
from niwaki.methods._method import Context, Method, Requirements, Reshapes
from niwaki.models.family import Network
from niwaki.models.meta_device import on_meta_device
from niwaki.models.model import Model
from niwaki.models.saved_files import config_of
from niwaki.models.sizes import config_sizes
from niwaki.models.skeleton import build


class Stack(Method, Reshapes):
    layers: int | None = setting(None, "layers of the new network; default: twice as many", ge=1, le=200)
    order: Literal["stack", "repeat"] = setting(
        "stack", "layers 1 2 3 become 1 2 3 1 2 3 (`stack`) or 1 1 2 2 3 3 (`repeat`)"
    )

    requires = Requirements(training=True, adds_parameters=True)

    def prepare(self, model: Model, context: Context) -> Model:
        network = build(self.config(model)).eval()
        network.load_state_dict(self.copied(model, network))
        network.config.architectures = [type(network).__name__]
        return Model(network, model.tokenizer, sibling_files=model.sibling_files)

    def dry_prepare(self, model: Model) -> Model:
        with on_meta_device():
            return Model(build(self.config(model)), None)

    def config(self, model: Model) -> Json:
        anatomy = model.anatomy
        anatomy.require_layers("stack")
        if anatomy.is_seq2seq or model.blueprint.edits:
            what = "is an encoder-decoder" if anatomy.is_seq2seq else "was edited by other methods"
            raise InputError(f"stack: copies layers of plain encoders, and the start model {what}; leave 'stack' out")
        first, depth = anatomy.layers[0], len(anatomy.order)
        wanted = self.layers or 2 * depth
        if wanted <= depth:
            raise InputError(f"stack: layers {wanted} is not more than the start model's {depth}; take more")
        sizes = config_sizes(anatomy, wanted, anatomy.hidden_size, first.heads, first.ffn_size)
        return {**config_of(model.network), **sizes}

    def copied(self, model: Model, network: Network) -> dict[str, torch.Tensor]:
        """The tensors of the deeper network."""
        family, own = model.anatomy.family, model.network.state_dict()
        before = f"{family.body}.{family.layer_list}."
        depth, wanted = len(model.anatomy.layers), len(Model(network, None).anatomy.layers)
        found = {}
        for name, fresh in network.state_dict().items():
            number, _, rest = name.removeprefix(before).partition(".")
            inside = name.startswith(before) and number.isdigit()
            source = f"{before}{self.source(int(number), depth, wanted)}.{rest}" if inside else name
            found[name] = own.get(source, fresh)  # some first layers lack a norm, which copies have
        return found

    def source(self, number: int, depth: int, wanted: int) -> int:
        """The layer that a layer of the deeper network is a copy of."""
        return number % depth if self.order == "stack" else number * depth // wanted
