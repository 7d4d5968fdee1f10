"""Images as sequences of patches (ViT): a matrix on the pixels of each patch, tables of positions and special tokens, as modules of their own.

Checkpoints store the matrix as a convolution and the tables as parameters. As matrix and tables, every method finds them; `patch_tensors`
and `patch_name` restore those of checkpoints.
"""

from collections.abc import Mapping
from typing import cast

import torch
from torch import Tensor, nn

from niwaki.models.family import Family, Network
from niwaki.models.value_rules import sides

EMBEDDINGS, MATRIX = "embeddings", "patch_embeddings.projection"
TABLES = ("cls_token", "distillation_token", "position_embeddings")


class Patches(nn.Module):
    """Pixels (batch, channels, height, width) to a vector for each patch (batch, patches, hidden), row by row."""

    def __init__(self, convolution: nn.Conv2d) -> None:
        super().__init__()
        weight, bias = convolution.weight, convolution.bias
        self.patch = cast(tuple[int, int], convolution.kernel_size)
        self.projection = nn.Linear(weight[0].numel(), len(weight), bias=bias is not None, device="meta")
        self.projection.weight = nn.Parameter(weight.detach().flatten(1).contiguous())
        if bias is not None:
            self.projection.bias = nn.Parameter(bias.detach().clone())

    def forward(self, pixels: Tensor) -> Tensor:
        return self.projection(cut(pixels, self.patch))


class PixelEmbeddings(nn.Module):
    """Special tokens, then patches, plus their positions. Called as transformers' networks call theirs."""

    def __init__(self, published: Network) -> None:
        super().__init__()
        self.patch_embeddings = Patches(published.patch_embeddings.projection)
        self.tables = [name for name in TABLES if name in published._parameters]
        for name in self.tables:
            self.add_module(name, _table(published._parameters[name]))
        self.dropout = published.dropout

    def forward(self, pixel_values: Tensor, *unused: object, **also_unused: object) -> Tensor:
        patches = self.patch_embeddings(pixel_values)
        first = torch.zeros(pixel_values.shape[0], 1, dtype=torch.long, device=pixel_values.device)
        *special, positions = (self.get_submodule(name) for name in self.tables)
        hidden = torch.cat([*(table(first) for table in special), patches], dim=1)
        return self.dropout(hidden + positions(torch.arange(hidden.shape[1], device=hidden.device)))


def cut(pixels: Tensor, patch: tuple[int, int]) -> Tensor:
    """(batch, channels, height, width) to (batch, patches, channels × patch height × patch width); what is left of an edge is cut off."""
    high, wide = patch
    rows, columns = pixels.shape[2] // high, pixels.shape[3] // wide
    whole = pixels[:, :, : rows * high, : columns * wide]
    parts = whole.unflatten(3, (columns, wide)).unflatten(
        2, (rows, high)
    )  # (batch, channels, rows, high, columns, wide)
    return parts.permute(0, 2, 4, 1, 3, 5).flatten(3).flatten(1, 2)


def set_patches(network: Network, family: type[Family]) -> None:
    """Puts matrix and tables in place of the convolution and the parameters."""
    trunk = network.get_submodule(family.body)
    if not isinstance(trunk.get_submodule(EMBEDDINGS), PixelEmbeddings):
        trunk.set_submodule(EMBEDDINGS, PixelEmbeddings(trunk.get_submodule(EMBEDDINGS)))


def patch_name(name: str) -> str:
    """What checkpoints call a tensor."""
    is_table = any(name.endswith(f"{EMBEDDINGS}.{table}.weight") for table in TABLES)
    return name.removesuffix(".weight") if is_table else name


def patch_tensors(network: Network, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The tensors in the shapes of checkpoints, under the same names."""
    patch = (network.config.num_channels, *sides(network.config.patch_size))
    return {name: _published(name, value, patch) for name, value in tensors.items()}


def _published(name: str, value: Tensor, patch: tuple[int, ...]) -> Tensor:
    if name.endswith(f"{EMBEDDINGS}.{MATRIX}.weight"):
        return value.unflatten(1, patch)
    return value[None] if patch_name(name) != name else value


def _table(parameter: Tensor | None) -> nn.Embedding:
    """A parameter (1, rows, hidden)."""
    assert parameter is not None
    rows = parameter.detach()[0]
    found = nn.Embedding(rows.shape[0], rows.shape[1], device="meta")
    found.weight = nn.Parameter(rows.clone())
    return found
