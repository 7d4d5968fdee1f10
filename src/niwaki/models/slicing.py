"""Cuts matrices, norms and tables down to chosen rows and columns, packed or not."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from niwaki.core.errors import Refused
from niwaki.models.packed import Int8Embedding, Int8Linear

Indices = Sequence[int]


def cut_linear(linear: nn.Module, outputs: Indices | None = None, inputs: Indices | None = None) -> nn.Module:
    """The same map with only some of its outputs and inputs. None keeps all."""
    if not isinstance(linear, nn.Linear | Int8Linear):
        raise Refused(f"{type(linear).__name__}: cannot be cut, only plain and int8 matrices can; cut before this edit")
    rows = _indices(outputs, linear.out_features)
    columns = _indices(inputs, linear.in_features)
    if isinstance(linear, Int8Linear):
        packed = Int8Linear(len(columns), len(rows))
        packed.weight = linear.weight[columns][:, rows].contiguous()
        packed.scale, packed.bias = linear.scale[rows].clone(), linear.bias[rows].clone()
        return packed
    new = nn.Linear(
        len(columns), len(rows), bias=linear.bias is not None, device=linear.weight.device, dtype=linear.weight.dtype
    )
    new.weight = _parameter(linear.weight[rows][:, columns], linear.weight)
    if linear.bias is not None:
        new.bias = _parameter(linear.bias[rows], linear.bias)
    return new


def cut_norm(norm: nn.LayerNorm, keep: Indices) -> nn.LayerNorm:
    index = _indices(keep, norm.weight.shape[0])
    new = nn.LayerNorm(len(index), eps=norm.eps)
    new.weight, new.bias = _parameter(norm.weight[index], norm.weight), _parameter(norm.bias[index], norm.bias)
    return new


def cut_table(table: nn.Module, rows: Indices | None = None, columns: Indices | None = None) -> nn.Module:
    """An embedding table with only some of its rows (tokens) and columns (width)."""
    if not isinstance(table, nn.Embedding | Int8Embedding):
        raise Refused(f"{type(table).__name__}: cannot be cut, only plain and int8 tables can; cut before this edit")
    row_index = _indices(rows, table.num_embeddings)
    column_index = _indices(columns, table.embedding_dim)
    if isinstance(table, Int8Embedding):
        packed = Int8Embedding(len(row_index), len(column_index))
        packed.weight = table.weight[row_index][:, column_index].contiguous()
        packed.scale = table.scale[row_index].clone()
        return packed
    new = nn.Embedding(len(row_index), len(column_index), padding_idx=table.padding_idx if rows is None else None)
    new.weight = _parameter(table.weight[row_index][:, column_index], table.weight)
    return new


def _indices(keep: Indices | None, size: int) -> Tensor:
    return torch.arange(size) if keep is None else torch.as_tensor(list(keep), dtype=torch.long)


def _parameter(value: Tensor, like: Tensor) -> nn.Parameter:
    return nn.Parameter(value.detach().clone().contiguous(), requires_grad=like.requires_grad)
