"""What an edit must give, worked out without cutting: the whole network with the removed parts switched off by hooks."""

import copy

import torch
from torch import Tensor, nn

from niwaki.models.edits.ffn import Ffn
from niwaki.models.edits.heads import Heads
from niwaki.models.edits.hidden_size import HiddenSize
from niwaki.models.edits.int8 import Int8
from niwaki.models.edits.layers import Layers
from niwaki.models.edits.vocabulary import Vocabulary
from niwaki.models.embedding_tables import embedding_norms, token_tables
from niwaki.models.forward import Batch, forward
from niwaki.models.model import Model
from niwaki.models.module_paths import unique_modules


@torch.no_grad()
def expected(model: Model, edit: object, batch: Batch) -> Tensor:
    """Logits of the uncut model with what `edit` takes away switched off. Token ids of the batch are the uncut model's."""
    whole = copy.deepcopy(model)
    anatomy = whole.anatomy
    SWITCH_OFF[type(edit)](whole, edit)
    if isinstance(edit, Layers) and len(anatomy.layers) == len(anatomy.order):  # the others are never run
        anatomy.__class__ = type("Fewer", (type(anatomy),), {"order": edit.keep})
    return forward(anatomy, batch).logits


def without_heads(whole: Model, edit: Heads) -> None:
    for layer, keep in zip(whole.anatomy.attentions, edit.keep, strict=True):
        columns = [head * layer.head_size + k for head in keep for k in range(layer.head_size)]
        layer.part("out").register_forward_pre_hook(only(columns, layer.part("out").in_features))


def without_neurons(whole: Model, edit: Ffn) -> None:
    for block, keep in zip(whole.anatomy.blocks, edit.keep, strict=True):
        block.consumer.register_forward_pre_hook(only(keep, block.ffn_size))


def without_layers(whole: Model, edit: Layers) -> None:
    anatomy = whole.anatomy
    if len(anatomy.layers) < len(anatomy.order):  # one layer, run less often
        whole.network.config.num_hidden_layers = anatomy.trunk.config.num_hidden_layers = len(edit.keep)
        return
    assert edit.keep == sorted(edit.keep)


def without_columns(whole: Model, edit: HiddenSize) -> None:
    """A norm over some columns sees only those; what is in the others never reaches a product."""
    anatomy, network = whole.anatomy, whole.network
    hidden_size = anatomy.hidden_size  # taken from a norm
    projected = anatomy.inputs.projection
    if projected:
        network.get_submodule(projected).register_forward_hook(
            lambda module, args, output: output * mask(edit.keep, hidden_size)
        )
    for path in embedding_norms(anatomy):
        if not (projected and path.startswith(anatomy.family.body)):
            network.set_submodule(path, NormOfSome(network.get_submodule(path), edit.keep))
    for layer in anatomy.every_layer:
        for norm in layer.norms:
            layer.replace(norm, NormOfSome(layer.part(norm), edit.keep))
    if anatomy.head.final:
        network.get_submodule(anatomy.head.final).register_forward_pre_hook(only(edit.keep, hidden_size))


class NormOfSome(nn.Module):
    """A layer norm, or one that only scales."""

    def __init__(self, norm: nn.Module, keep: list[int]) -> None:
        super().__init__()
        self.norm, self.keep = norm, keep

    def forward(self, x: Tensor) -> Tensor:
        some, norm = x[..., self.keep], self.norm
        if not isinstance(norm, nn.LayerNorm):
            mean_square = some.square().mean(-1, keepdim=True)
            return x / (mean_square + norm.variance_epsilon).sqrt() * norm.weight * mask(self.keep, x.shape[-1])
        mean, variance = some.mean(-1, keepdim=True), some.var(-1, unbiased=False, keepdim=True)
        whole = (x - mean) / (variance + norm.eps).sqrt() * norm.weight + (0 if norm.bias is None else norm.bias)
        return whole * mask(self.keep, x.shape[-1])


def rounded(whole: Model, edit: Int8) -> None:
    paths = [*whole.anatomy.matrices(), *(token_tables(whole.anatomy) if edit.embeddings else [])]
    for module in unique_modules(whole.network, paths).values():
        weight = module.weight
        step = weight.abs().max(dim=1, keepdim=True).values / 127
        weight.copy_(torch.round(weight / step) * step)


def only(keep: list[int], size: int):
    return lambda module, args: (args[0] * mask(keep, size), *args[1:])


def mask(keep: list[int], size: int) -> Tensor:
    ones = torch.zeros(size)
    ones[list(keep)] = 1
    return ones


SWITCH_OFF = {
    Heads: without_heads,
    Ffn: without_neurons,
    Layers: without_layers,
    HiddenSize: without_columns,
    Int8: rounded,
    Vocabulary: lambda whole, edit: None,
}
