"""Matrices that checkpoints store side by side as one, or transposed (`Conv1D` in transformers), as linear layers of their own.

Pruning, packing and training thus need not know of this. Networks that transformers can load are saved with the tensors that it expects.
"""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn

from niwaki.models.family import LayerPaths

ROLES = ("query", "key", "value", "ffn_gate", "ffn_in")  # of matrices that may be stored as one, in their order there


class SideBySide(nn.Module):
    """Linear layers that read the same rows; their outputs are concatenated, as transformers' own forward pass expects."""

    def __init__(self, parts: Mapping[str, nn.Module]) -> None:
        super().__init__()
        for name, part in parts.items():
            self.add_module(name, part)

    def forward(self, rows: Tensor) -> Tensor:
        return torch.cat([part(rows) for part in self.children()], dim=-1)


def split_matrices(network: nn.Module, paths: LayerPaths) -> None:
    """Puts linear layers in place of all `Conv1D`, and of all matrices that hold several."""
    from transformers.pytorch_utils import Conv1D

    for path, module in [*network.named_modules()]:
        names = _parts(path, paths)
        if not isinstance(module, Conv1D) and not (names and isinstance(module, nn.Linear)):
            continue
        weight = module.weight.detach()
        weights = (weight.T if isinstance(module, Conv1D) else weight).chunk(
            max(1, len(names))
        )  # each (outputs, inputs)
        no_biases: Sequence[Tensor | None] = [None] * len(weights)
        biases = no_biases if module.bias is None else module.bias.detach().chunk(len(weights))
        found = [_linear(one, bias) for one, bias in zip(weights, biases, strict=True)]
        network.set_submodule(path, SideBySide(dict(zip(names, found, strict=True))) if names else found[0])


def join_matrices(tensors: Mapping[str, Tensor], paths: LayerPaths) -> dict[str, Tensor]:
    """The tensors of such a network under the names and in the layout of its checkpoints."""
    found: dict[str, Tensor] = {}
    waiting: dict[str, list[Tensor]] = {}
    for name, value in tensors.items():
        path, _, kind = name.rpartition(".")
        whole, _, part = path.rpartition(".")
        names, stored = _parts(whole, paths), whole if _parts(whole, paths) else path
        turned = value.T if kind == "weight" and stored.endswith(paths.stack.transposed) else value
        if part not in names:
            found[name] = turned.contiguous()
            continue
        waiting.setdefault(f"{whole}.{kind}", []).append(turned)
        if part == names[-1]:
            found[f"{whole}.{kind}"] = torch.cat(waiting.pop(f"{whole}.{kind}"), dim=-1 if turned is not value else 0)
    return found


def _parts(path: str, paths: LayerPaths) -> list[str]:
    """Names of the matrices that the one at a path holds; none for one that is a matrix itself."""
    whole = next((one for one in paths.stack.fused if path.endswith(f".{one}")), None)
    places = [getattr(paths, role) for role in ROLES] if whole else []
    return [place.rpartition(".")[2] for place in places if place.startswith(f"{whole}.")]


def _linear(weight: Tensor, bias: Tensor | None) -> nn.Linear:
    layer = nn.Linear(weight.shape[1], weight.shape[0], bias=bias is not None, device="meta")
    layer.weight = nn.Parameter(weight.contiguous())
    if bias is not None:
        layer.bias = nn.Parameter(bias.clone())
    return layer
