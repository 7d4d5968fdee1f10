"""Cuts matrices, norms and tables down to chosen rows and columns, in whatever form they are kept."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from niwaki.models.deltas._delta import Tuned
from niwaki.models.packed.factored import Factored, FactoredTable
from niwaki.models.packed.int8 import Int8Embedding, Int8Linear
from niwaki.models.prompt import PromptedTable

Indices = Sequence[int]


def cut_linear(linear: nn.Module, outputs: Indices | None = None, inputs: Indices | None = None) -> nn.Module:
    """The same map with only some of its outputs and inputs. None keeps all."""
    if isinstance(linear, Factored):
        first = linear.first if inputs is None else cut_linear(linear.first, inputs=inputs)
        return Factored(first, linear.second if outputs is None else cut_linear(linear.second, outputs=outputs))
    if isinstance(linear, Tuned):
        return Tuned(cut_linear(linear.base, outputs, inputs), linear.delta.cut(outputs, inputs))
    if not isinstance(
        linear, nn.Linear | Int8Linear
    ):  # kept in a form that is made anew: what it rounds is rounded again
        form: Any = linear
        return form.repack(cut_linear(form.to_dense(), outputs, inputs))
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


def cut_norm(norm: Any, keep: Indices) -> nn.Module:
    if isinstance(norm, nn.Identity):
        return norm
    index = _indices(keep, norm.weight.shape[0])
    if not isinstance(norm, nn.LayerNorm):  # one that only scales
        scaling = type(norm)(len(index), norm.variance_epsilon)
        scaling.weight = _parameter(norm.weight[index], norm.weight)
        return scaling
    new = nn.LayerNorm(len(index), eps=norm.eps, bias=norm.bias is not None)
    new.weight = _parameter(norm.weight[index], norm.weight)
    if norm.bias is not None:
        new.bias = _parameter(norm.bias[index], norm.bias)
    return new


def cut_table(table: nn.Module, rows: Indices | None = None, columns: Indices | None = None) -> nn.Module:
    """An embedding table with only some of its rows (tokens) and columns (width)."""
    if isinstance(table, FactoredTable):
        narrow = table.table if rows is None else cut_table(table.table, rows=rows)
        return FactoredTable(narrow, table.up if columns is None else cut_linear(table.up, outputs=columns))
    if isinstance(table, PromptedTable):
        return PromptedTable(cut_table(table.base, rows, columns), table.delta.cut(columns))
    if not isinstance(table, nn.Embedding | Int8Embedding):
        form: Any = table
        return form.repack(cut_table(form.to_dense(), rows, columns))
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
