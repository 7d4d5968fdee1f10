"""The sensitivity of a model to each layer, head and matrix: the loss without it, or with it reduced, one at a time.

Nothing is estimated from gradients: each change is made, the rows are run, and the change is undone.
"""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial

import torch
from torch import Tensor, nn

from niwaki.core.json_types import Json
from niwaki.core.log import progress
from niwaki.models.anatomy import Network
from niwaki.models.edits.decoder import Decoder
from niwaki.models.edits.factored import truncated
from niwaki.models.edits.layers import Layers
from niwaki.models.forward import Batch
from niwaki.models.layer import Layer
from niwaki.models.model import Model
from niwaki.models.module_paths import to_dense
from niwaki.models.packed.factored import linear_of
from niwaki.models.packed.low_bit import LowBit

GROUP = 64
Loss = Callable[[Model, Batch], Tensor]
Change = contextlib.AbstractContextManager[Model | None]


@dataclass(frozen=True)
class Cut:
    """One part removed or reduced, and the increase of the loss."""

    kind: str  # layer, head or matrix
    what: str
    how: str
    more: float
    error: float | None  # standard error of `more`, from batch to batch


def four_bits(weight: Tensor) -> Tensor:
    return LowBit.of(weight, 16, GROUP)()


def two_bits(weight: Tensor) -> Tensor:
    return LowBit.of(weight, 4, GROUP)()


def half_sparse(weight: Tensor) -> Tensor:
    """The smaller half of the weights set to 0."""
    return weight * (weight.abs() > weight.abs().flatten().median())


def quarter_rank(weight: Tensor) -> Tensor:
    left, right = truncated(weight, max(1, min(weight.shape) // 4))
    return left @ right


MATRIX_CUTS = {
    "4 bits": four_bits,
    "2 bits": two_bits,
    "half of it 0": half_sparse,
    "a quarter of its rank": quarter_rank,
}


@torch.no_grad()
def sensitivity(model: Model, batches: Sequence[Batch], loss: Loss) -> Json:
    """The loss of the whole model, and the increase by every cut."""
    model.network.eval()
    whole = _losses(model, batches, loss)
    cuts, todo = [], list(_cuts(model))
    with progress("sensitivity", len(todo)) as update:
        for number, (kind, what, how, change) in enumerate(todo):
            with change() as changed:
                more = _losses(changed or model, batches, loss) - whole
            error = float(more.std() / len(more) ** 0.5) if len(more) > 1 else None
            cuts.append(Cut(kind, what, how, float(more.mean()), error))
            update(number + 1, f"{what}, {how}")
    return {"loss": float(whole.mean()), "cuts": [asdict(cut) for cut in cuts]}


def _losses(model: Model, batches: Sequence[Batch], loss: Loss) -> Tensor:
    return torch.stack([loss(model, batch).double() for batch in batches])


def _cuts(model: Model) -> Iterator[tuple[str, str, str, Callable[[], Change]]]:
    anatomy, network = model.anatomy, model.network
    for name, stack in anatomy.stacks.items():
        own = name != "layer" or len(stack) == len(anatomy.order)  # otherwise a layer runs several times
        for number in range(len(stack) if len(stack) > 1 and own else 0):
            yield "layer", f"{name} {number}", "without it", partial(_without_layer, model, name, number)
    for name, stack in anatomy.stacks.items():
        for number, whole in enumerate(stack):
            for layer in whole:
                which = f"{name} {number}" + (f" {layer.path('attention_module')}" if len(whole) > 1 else "")
                for head in range(layer.heads if layer.heads > 1 and not layer.mixer.removed else 0):
                    yield "head", f"{which} head {head}", "without it", partial(_without_head, layer, head)
    for path in dict.fromkeys(anatomy.matrices()):
        if hasattr(network.get_submodule(path), "out_features"):  # not an LSTM's
            for how, cut in MATRIX_CUTS.items():
                yield "matrix", path.removeprefix(f"{anatomy.family.body}."), how, partial(_swapped, network, path, cut)


@contextlib.contextmanager
def _without_layer(model: Model, name: str, number: int) -> Iterator[Model]:
    small = model.clone()
    others = [other for other in range(len(model.anatomy.stacks[name])) if other != number]
    small.apply_edit(Layers(keep=others) if name == "layer" else Decoder(keep=others))
    yield small


@contextlib.contextmanager
def _without_head(layer: Layer, head: int) -> Iterator[None]:
    width = layer.head_size
    gate = torch.ones(layer.heads * width)
    gate[head * width : (head + 1) * width] = 0
    handle = layer.part("out").register_forward_pre_hook(lambda module, args: (args[0] * gate, *args[1:]))
    try:
        yield
    finally:
        handle.remove()


@contextlib.contextmanager
def _swapped(network: Network, path: str, cut: Callable[[Tensor], Tensor]) -> Iterator[None]:
    module = network.get_submodule(path)
    found: nn.Linear = to_dense(module)
    network.set_submodule(path, linear_of(cut(found.weight), found.bias))
    try:
        yield
    finally:
        network.set_submodule(path, module)
