"""Of a matrix that is gone, the bias."""

import torch

from niwaki.models.module_paths import to_dense
from niwaki.models.packed.removed import Removed
from niwaki.models.slicing import cut_linear


def test_what_it_says_does_not_depend_on_what_it_reads():
    silent = Removed(3, 2, torch.tensor([1.0, -2.0]))
    assert silent(torch.randn(4, 5, 3)).tolist() == [[[1.0, -2.0]] * 5] * 4
    assert Removed(3, 2, None)(torch.ones(1, 3)).tolist() == [[0.0, 0.0]]


def test_it_is_a_matrix_of_zeros_and_is_cut_like_one():
    silent = Removed(3, 2, torch.tensor([1.0, -2.0]))
    assert to_dense(silent).weight.tolist() == [[0.0] * 3] * 2 and to_dense(silent).bias.tolist() == [1.0, -2.0]
    cut = cut_linear(silent, outputs=[1], inputs=[0, 2])
    assert isinstance(cut, Removed) and (cut.in_features, cut.out_features) == (2, 1) and cut.bias.tolist() == [-2.0]
    assert [name for name, _ in silent.named_parameters()] == ["bias"]
