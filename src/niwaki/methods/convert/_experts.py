"""What the methods share that turn dense feed-forward blocks into mixtures of experts."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn

from niwaki.core.errors import InputError
from niwaki.core.seeds import derive
from niwaki.core.settings import setting
from niwaki.methods._method import Method, Penalizes, Requirements, Reshapes
from niwaki.methods.convert._attention_layers import copy_matrix, dense
from niwaki.models.activation_functions import activation_name
from niwaki.models.edit import resolve_indices
from niwaki.models.edits.replace_part import ReplacePart, Value
from niwaki.models.expert_routing import balance_loss, z_loss
from niwaki.models.forward import Batch, Outputs, forward
from niwaki.models.layer import Layer, configured_dropout
from niwaki.models.model import Model
from niwaki.models.packed.removed import Removed
from niwaki.models.record import FINAL, ROUTING

ROUTER_RANGE = 0.02  # standard deviation of a new router's weights, as BERT's
Neurons = Sequence[Sequence[int]]  # of each expert; those that are shared come last


@dataclass(frozen=True)
class DenseBlock:
    """The matrices of a dense block as floats, and its activation function."""

    first: nn.Linear
    second: nn.Linear
    activation: nn.Module

    @classmethod
    def of(cls, layer: Layer) -> "DenseBlock":
        first, second = (dense(layer.part(role)) for role in ("ffn_in", "ffn_out"))
        return cls(first, second, layer.part("activation"))


class ToExperts(Method, Reshapes, Penalizes):
    """Base of methods that replace dense blocks by experts."""

    experts: int = setting(8, "number of experts of each layer", ge=2, le=1024)
    active: int = setting(2, "experts that each token goes through", ge=1, le=1024)
    route: Literal["token", "text"] = setting(
        "token", "whether each token has its own experts, or the first token chooses for its text"
    )
    layers: list[int] = setting([], "layers to convert; none converts all")
    balance: float = setting(0.01, "weight of the loss that spreads tokens evenly over experts", ge=0)
    router_z: float = setting(0.001, "weight of the loss that keeps router logits small", ge=0)

    requires = Requirements(activations=frozenset({ROUTING}), adds_parameters=True, reduces=("flops",))

    def penalty(self, model: Model, outputs: Outputs) -> Tensor | None:
        every = [outputs.routing[depth] for depth in range(len(outputs.routing))]
        if not every or not (self.balance or self.router_z):
            return None
        each = [self.balance * balance_loss(logits, self.active) + self.router_z * z_loss(logits) for logits in every]
        return torch.stack(each).mean()

    def dense_layers(self, model: Model) -> dict[int, Layer]:
        """The layers to convert by number. Rejects what is no plain dense block."""
        anatomy, name = model.anatomy, self.label()
        anatomy.require_layers(name)
        if anatomy.decoder is not None and not anatomy.decoder.has_own_layers:
            raise InputError(f"{name}: the encoder's layers generate here, token by token; leave '{name}' out")
        if self.route == "text" and anatomy.is_causal:
            raise InputError(f"{name}: the first token of a causal model knows no text; set route = 'token'")
        if self.active > self.experts:
            raise InputError(
                f"{name}: {self.active} active experts of {self.experts}; set active to {self.experts} or less"
            )
        layers = anatomy.layers
        chosen = resolve_indices(self.layers or len(layers), len(layers), f"{name}: layers")
        found = {number: layers[number] for number in chosen}
        for number, layer in found.items():
            kind = layer.feed_forward.label()
            if kind != "dense" or activation_name(layer.part("activation")) is None:
                raise InputError(
                    f"{name}: layer {number} has a feed-forward block '{kind}'; only dense ones with a known activation are converted, name other layers"
                )
            if isinstance(layer.part("ffn_out"), Removed):
                raise InputError(f"{name}: the feed-forward block of layer {number} was removed; name other layers")
        return found

    def replace(self, model: Model, neurons: Mapping[int, int], settings: Mapping[str, Value]) -> None:
        """Puts experts with so many neurons in all into layers, by number."""
        layers = model.anatomy.layers
        alike: dict[tuple[Value, ...], list[int]] = {}
        for number, count in neurons.items():
            name, rate = (
                activation_name(layers[number].part("activation")),
                configured_dropout(layers[number], "inner_dropout"),
            )
            alike.setdefault((count, name, rate), []).append(number)
        shape = self.model_dump(include={"experts", "active", "route"})
        for own, numbers in alike.items():
            known = dict(zip(("neurons", "activation", "dropout"), own, strict=True))
            edit = ReplacePart(
                slot="feed_forward", part="experts", layers=numbers, settings={**shape, **known, **settings}
            )
            model.apply_edit(edit)


@torch.no_grad()
def split(block: DenseBlock, neurons: Neurons, part: nn.Module, total: float) -> None:
    """Copies a dense block into experts with these neurons each. The last bias is divided among them: the weights of those that a token
    goes through add up to `total`."""
    for own, first, second in zip(neurons, part.first, part.second, strict=True):  # type: ignore[arg-type]
        index = torch.as_tensor(list(own), dtype=torch.long)
        copy_matrix(part_of(block.first, outputs=index), first)
        copy_matrix(part_of(block.second, inputs=index), second)
        second.bias /= total


def part_of(matrix: nn.Linear, outputs: Tensor | None = None, inputs: Tensor | None = None) -> nn.Linear:
    """Some rows and columns of a matrix, with all of its bias where all outputs stay."""
    weight = matrix.weight if outputs is None else matrix.weight[outputs]
    weight = weight if inputs is None else weight[:, inputs]
    found = nn.Linear(weight.shape[1], weight.shape[0], bias=matrix.bias is not None)
    found.weight.copy_(weight)
    if matrix.bias is not None:
        found.bias.copy_(matrix.bias if outputs is None else matrix.bias[outputs])
    return found


@torch.no_grad()
def new_router(router: nn.Linear, seed: int, number: int) -> None:
    """Small random weights, different in each layer."""
    generator = torch.Generator().manual_seed(derive(seed, f"router {number}"))
    router.weight.copy_(torch.randn(router.weight.shape, generator=generator) * ROUTER_RANGE)
    router.bias.zero_()


def check_neurons(name: str, layers: Mapping[int, Layer], needed: int) -> None:
    for number, layer in layers.items():
        if layer.ffn_size < needed:
            raise InputError(
                f"{name}: layer {number} has {layer.ffn_size} neurons, fewer than the {needed} that are needed; use fewer experts"
            )


@torch.no_grad()
def block_inputs(model: Model, layers: Mapping[int, Layer], batches: Iterable[Batch], most: int) -> dict[int, Tensor]:
    """Inputs (tokens, hidden) of the feed-forward blocks on calibration batches, without padding: at most so many of each layer."""
    found: dict[int, list[Tensor]] = {number: [] for number in layers}
    handles = [
        layer.part("ffn_in").register_forward_pre_hook(
            lambda _, args, own=found[number]: own.append(args[0].flatten(0, -2))
        )
        for number, layer in layers.items()
    ]
    model.network.eval()
    try:
        for batch in batches:
            forward(model.anatomy, batch, frozenset({FINAL}))  # with a name, the last layer runs for all tokens
    finally:
        for handle in handles:
            handle.remove()
    return {number: torch.cat(rows).float()[:most] for number, rows in found.items()}
