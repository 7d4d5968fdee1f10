"""Matrices, norms and tables cut to rows and columns."""

import torch
from torch import nn

from niwaki.models.slicing import cut_linear, cut_norm, cut_table


def test_cut_matrix_has_the_chosen_rows_and_columns():
    linear = nn.Linear(4, 3)
    linear.weight.requires_grad_(False)
    cut = cut_linear(linear, outputs=[2, 0], inputs=[1, 3])
    assert torch.equal(cut.weight, linear.weight[[2, 0]][:, [1, 3]]) and torch.equal(cut.bias, linear.bias[[2, 0]])
    assert not cut.weight.requires_grad and cut.bias.requires_grad
    assert cut_linear(nn.Linear(4, 3, bias=False)).bias is None


def test_cut_norm_keeps_scale_bias_and_epsilon():
    norm = nn.LayerNorm(4, eps=1e-3)
    nn.init.normal_(norm.weight), nn.init.normal_(norm.bias)
    cut = cut_norm(norm, [3, 1])
    assert torch.equal(cut.weight, norm.weight[[3, 1]]) and torch.equal(cut.bias, norm.bias[[3, 1]]) and cut.eps == 1e-3


def test_cut_table_keeps_its_padding_row_unless_rows_are_chosen():
    table = nn.Embedding(5, 4, padding_idx=1)
    narrow, short = cut_table(table, columns=[0, 2]), cut_table(table, rows=[4, 0])
    assert torch.equal(narrow.weight, table.weight[:, [0, 2]]) and narrow.padding_idx == 1
    assert torch.equal(short.weight, table.weight[[4, 0]]) and short.padding_idx is None


def test_cut_parts_do_not_share_memory_with_the_original():
    linear = nn.Linear(3, 3)
    cut = cut_linear(linear)
    with torch.no_grad():
        cut.weight.zero_()
    assert linear.weight.abs().sum() > 0
