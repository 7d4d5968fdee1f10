"""Replaces attention by linear attention with learned features that mimic the softmax, so that time and memory grow linearly with the text.

The matrices of the attention stay. Before training, feature maps are fitted to calibration rows: the cross-entropy between the attention weights of the model and those of the
features is minimized, layer by layer, while the rest is frozen. Train afterwards, best with the model before the conversion as the teacher. Relative positions (MPNet) are part of what
is mimicked. Features follow products of queries and keys and know no distances, so such models lose more.
Paper: Zhang et al. 2024, The Hedgehog & the Porcupine: Expressive Linear Attentions with Softmax Mimicry (arXiv 2402.04347).
Cost: `steps` batches forward, with weights for all pairs of tokens. The native engine does not have the part.
"""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from niwaki.core.errors import InputError
from niwaki.core.settings import setting
from niwaki.methods._method import Context, Method, Requirements, Reshapes
from niwaki.methods.convert._attention_layers import attention_layers, replace_attention, require_plain_attention
from niwaki.models.attention import split_heads
from niwaki.models.forward import Batch, forward, position_bias
from niwaki.models.layer import Layer
from niwaki.models.linear_attention import features, mimicry_loss
from niwaki.models.model import Model
from niwaki.models.parts.mixers.linear_attention import MAPS
from niwaki.models.parts.mixers.linear_attention import LinearAttention as Mixer
from niwaki.models.record import HIDDEN, SCORES, STATES


class LinearAttention(Method, Reshapes):
    layers: list[int] = setting([], "layers to convert; none converts all")
    features: int = setting(
        0,
        "projections of a head's queries and keys, half the number of features; 0 takes the size of a head",
        ge=0,
        le=65_536,
    )
    steps: int = setting(200, "calibration batches that the features are fitted to; 0 leaves them as they begin", ge=0)
    lr: float = setting(0.01, "learning rate of the fit", gt=0)

    requires = Requirements(adds_parameters=True)

    def dry_prepare(self, model: Model) -> Model:
        layers = self._layers(model)
        for number in layers:
            replace_attention(model, number, "linear_attention", {"features": self.features})
        return model

    def prepare(self, model: Model, context: Context) -> Model:
        original, numbers = model.clone(), [*self._layers(model)]
        original.network.eval()
        model = self.dry_prepare(model)
        if self.steps:
            layers = model.anatomy.layers
            batches = [*context.calibration(original, self.steps)]
            fit({number: layers[number].mixer for number in numbers}, original, batches, self.steps, self.lr)
        return model

    def _layers(self, model: Model) -> dict[int, Layer]:
        anatomy = model.anatomy
        anatomy.require_layers("linear_attention")
        if anatomy.is_causal:
            raise InputError("linear_attention: a causal model attends to earlier tokens alone; take 'window'")
        found = attention_layers(model, self.layers or len(anatomy.layers), "linear_attention")
        for number, layer in found.items():
            require_plain_attention("linear_attention", number, layer)
        return found


def fit(mixers: Mapping[int, Mixer], original: Model, batches: Sequence[Batch], steps: int, lr: float) -> list[float]:
    """Trains the feature maps of converted layers, by number, on the attention of the original model. The loss of each step."""
    maps = [part for mixer in mixers.values() for name in MAPS for part in mixer.feature_map(name)]
    optimizer = torch.optim.Adam(maps, lr=lr)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.0, total_iters=steps)
    losses = []
    for step in range(steps):
        batch = batches[step % len(batches)]
        with torch.enable_grad():
            loss = mimicry(mixers, original, batch)
            gradients = torch.autograd.grad(loss, maps)
        for part, gradient in zip(maps, gradients, strict=True):
            part.grad = gradient
        optimizer.step()
        schedule.step()
        losses.append(float(loss.detach()))
    optimizer.zero_grad()
    return losses


def mimicry(mixers: Mapping[int, Mixer], original: Model, batch: Batch) -> Tensor:
    """The mean loss of the converted layers on one batch, with the queries and keys of the original model."""
    anatomy = original.anatomy
    with torch.no_grad():
        outputs = forward(anatomy, batch, frozenset({HIDDEN, SCORES, *STATES}))
    bias = position_bias(anatomy, outputs.hidden[0])
    losses = []
    for depth, number in enumerate(anatomy.order):
        if number in mixers:
            attention, mixer = anatomy.layers[number].mixer, mixers[number]
            scores = outputs.scores[depth]
            scores = scores if bias is None else scores + attention.pick_heads(bias)
            states = (outputs.queries[depth] * mixer.scale, outputs.keys[depth])
            query, key = (
                features(split_heads(state, mixer.head_size), *mixer.feature_map(name))
                for name, state in zip(MAPS, states, strict=True)
            )
            losses.append(mimicry_loss(query, key, scores.detach(), batch.mask))
    return torch.stack(losses).mean()
