"""Matrices that checkpoints store transposed, several of them side by side (`Conv1D` in transformers), as linear layers.

In memory each matrix is a linear layer of its own, so that pruning, packing and training need not know of this. Networks that
transformers can load are saved with the tensors that it expects.
"""

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from niwaki.models.family import LayerPaths


class SideBySide(nn.Module):
    """Linear layers that read the same rows; their outputs are concatenated, as transformers' own forward pass expects."""

    def __init__(self, parts: Mapping[str, nn.Module]) -> None:
        super().__init__()
        for name, part in parts.items():
            self.add_module(name, part)

    def forward(self, rows: Tensor) -> Tensor:
        return torch.cat([part(rows) for part in self.children()], dim=-1)


def replace_conv1d(network: nn.Module, paths: LayerPaths) -> None:
    """Puts linear layers in place of all `Conv1D`."""
    from transformers.pytorch_utils import Conv1D

    for path, module in [*network.named_modules()]:
        if isinstance(module, Conv1D):
            names = _parts(path, paths)
            weights = module.weight.detach().chunk(max(1, len(names)), dim=1)  # each (inputs, outputs)
            biases = module.bias.detach().chunk(len(weights))
            found = [_linear(weight, bias) for weight, bias in zip(weights, biases, strict=True)]
            network.set_submodule(path, SideBySide(dict(zip(names, found, strict=True))) if names else found[0])


def as_conv1d(tensors: Mapping[str, Tensor], paths: LayerPaths) -> dict[str, Tensor]:
    """The tensors of such a network under the names and in the layout of its checkpoints."""
    found: dict[str, Tensor] = {}
    waiting: dict[str, list[Tensor]] = {}
    for name, value in tensors.items():
        path, _, kind = name.rpartition(".")
        whole, _, part = path.rpartition(".")
        names = _parts(whole, paths)
        if part in names:
            waiting.setdefault(f"{whole}.{kind}", []).append(value.T if kind == "weight" else value)
            if part == names[-1]:
                found[f"{whole}.{kind}"] = torch.cat(waiting.pop(f"{whole}.{kind}"), dim=-1).contiguous()
        else:
            found[name] = value.T.contiguous() if kind == "weight" and path.endswith(paths.stack.transposed) else value
    return found


def _parts(path: str, paths: LayerPaths) -> list[str]:
    """Names of the matrices that the one at a path holds; none for one that is a matrix itself."""
    three = (paths.query, paths.key, paths.value)
    return [one.rpartition(".")[2] for one in three] if path.endswith(paths.stack.fused) else []


def _linear(weight: Tensor, bias: Tensor) -> nn.Linear:
    """A linear layer from a transposed matrix (inputs, outputs)."""
    layer = nn.Linear(weight.shape[0], weight.shape[1], device="meta")
    layer.weight, layer.bias = nn.Parameter(weight.T.contiguous()), nn.Parameter(bias.clone())
    return layer
