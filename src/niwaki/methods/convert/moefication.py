"""Groups the neurons of each feed-forward block into experts and trains a router, so that each token computes a few groups alone.

Neurons with similar first weights, or that are active for the same tokens, form an expert; all experts are equally large. With all experts active
nothing changes. The router predicts how much each expert would add to a token; it is fitted to calibration rows and trained on with the rest. A model
with GELU activates most of its neurons a little, so train afterwards, best with a teacher.
Paper: Zhang et al. 2022, MoEfication: Transformer Feed-forward Layers are Mixtures of Experts (arXiv 2110.01786).
Cost: calibration batches forward, and balanced clustering of each block's neurons: seconds for each layer.
"""

from typing import Literal

import torch
from torch import Tensor, nn

from niwaki.core.seeds import derive
from niwaki.core.settings import setting
from niwaki.methods._method import Context
from niwaki.methods.convert._clusters import clusters_of
from niwaki.methods.convert._experts import DenseBlock, Neurons, ToExperts, block_inputs, check_neurons, split
from niwaki.models.model import Model
from niwaki.models.parts.feed_forwards.experts import sizes_of

MAX_TOKENS = 8192  # of the calibration rows, for each layer
RIDGE = 1e-2  # of the router's fit, relative to the mean of the diagonal


class Moefication(ToExperts):
    cluster: Literal["weights", "activations"] = setting(
        "weights", "what neurons of an expert have in common: their weights, or the tokens for which they are active"
    )
    batches: int = setting(16, "calibration batches that the router is fitted to", ge=1)

    def dry_prepare(self, model: Model) -> Model:
        layers = self.dense_layers(model)
        check_neurons(self.label(), layers, self.experts)
        self.replace(model, {number: layer.ffn_size for number, layer in layers.items()}, {"weights": "sum"})
        return model

    @torch.no_grad()
    def prepare(self, model: Model, context: Context) -> Model:
        layers = self.dense_layers(model)
        blocks = {number: DenseBlock.of(layer) for number, layer in layers.items()}
        rows = block_inputs(model, layers, context.calibration(model, self.batches), MAX_TOKENS)
        self.dry_prepare(model)
        for number, block in blocks.items():
            active = block.activation(block.first(rows[number]))  # (tokens, neurons)
            neurons = self._clusters(block, active, derive(context.seed, "moefication", number))
            part = model.anatomy.layers[number].feed_forward
            split(block, neurons, part, total=self.active)
            fit_router(part.router, rows[number], contributions(active, block.second, neurons))
        return model

    def _clusters(self, block: DenseBlock, active: Tensor, seed: int) -> Neurons:
        points = block.first.weight if self.cluster == "weights" else active.T
        points = nn.functional.normalize(points.float(), dim=-1)
        return clusters_of(points.numpy(), sizes_of(len(points), self.experts), seed)


def contributions(active: Tensor, second: nn.Linear, neurons: Neurons) -> Tensor:
    """The norm of what each expert adds to each token, (tokens, experts), from the neurons' activations (tokens, neurons)."""
    each = [(active[:, list(own)] @ second.weight[:, list(own)].T).norm(dim=-1) for own in neurons]
    return torch.stack(each, dim=-1)


def fit_router(router: nn.Linear, rows: Tensor, worth: Tensor) -> None:
    """Sets a linear router by ridge regression on how much experts add to rows (rows, hidden), relative to the row's mean expert."""
    wanted = worth - worth.mean(dim=-1, keepdim=True)
    wanted = wanted / wanted.std().clamp(min=1e-9)
    center, mean = rows.mean(dim=0), wanted.mean(dim=0)
    inputs = (rows - center).double()
    power = inputs.T @ inputs
    power.diagonal().add_(RIDGE * power.diagonal().mean().clamp(min=1e-12))
    weight = torch.linalg.solve(power, inputs.T @ (wanted - mean).double()).T.to(router.weight.dtype)
    router.weight.copy_(weight)
    router.bias.copy_(mean - weight @ center)
