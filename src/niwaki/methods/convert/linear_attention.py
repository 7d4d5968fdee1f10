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
from niwaki.models.forward import Batch, embedded, forward
from niwaki.models.layer import Layer, reduction_of
from niwaki.models.layout import Packed
from niwaki.models.linear_attention import features, mimicry_loss
from niwaki.models.model import Model
from niwaki.models.parts.mixers.linear_attention import MAPS
from niwaki.models.parts.mixers.linear_attention import LinearAttention as Mixer
from niwaki.models.position_bias import position_bias
from niwaki.models.record import FINAL


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
        if any(reduction_of(layer) is not None for layer in anatomy.layers):
            raise InputError("linear_attention: layers shorten texts already; name 'linear_attention' before that")
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
    bias = position_bias(anatomy, embedded(anatomy, batch.inputs)[0])
    losses = []
    for number, states in queries_and_keys(original, [*mixers], batch).items():
        attention, mixer = anatomy.layers[number].mixer, mixers[number]
        for pair in states:
            query, key = (split_heads(state, mixer.head_size) for state in pair)
            scores = query @ key.transpose(-1, -2) * mixer.scale
            scores = scores if bias is None else scores + attention.pick_heads(bias)
            query, key = (
                features(state, *mixer.feature_map(name))
                for name, state in zip(MAPS, (query * mixer.scale, key), strict=True)
            )
            losses.append(mimicry_loss(query, key, scores.detach(), batch.mask))
    return torch.stack(losses).mean()


@torch.no_grad()
def queries_and_keys(model: Model, numbers: Sequence[int], batch: Batch) -> dict[int, list[tuple[Tensor, Tensor]]]:
    """Of these layers, each (batch, tokens, heads × head size): once for every time that a layer runs. Other layers may have any mixer."""
    layers, layout = model.anatomy.layers, Packed(batch.mask, model.anatomy.is_causal)
    found: dict[tuple[int, str], list[Tensor]] = {(number, name): [] for number in numbers for name in MAPS}
    handles = [
        layers[number].part(name).register_forward_hook(lambda _, __, rows, own=own: own.append(layout.unpack(rows)))
        for (number, name), own in found.items()
    ]
    try:
        forward(model.anatomy, batch, frozenset({FINAL}))  # with a name, the last layer runs for all tokens
    finally:
        for handle in handles:
            handle.remove()
    return {number: list(zip(*(found[number, name] for name in MAPS), strict=True)) for number in numbers}
