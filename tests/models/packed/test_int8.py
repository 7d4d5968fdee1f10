"""8-bit storage: the numbers by hand, and how far a packed product may be from the float one."""

import torch

from niwaki.models.packed.int8 import Int8Embedding, Int8Linear, quantize_rows
from niwaki.models.slicing import cut_linear, cut_table


def test_quantize_rows_by_hand():
    codes, scale = quantize_rows(torch.tensor([[1.27, -0.64, 0.0], [-0.254, 0.1, 0.127], [0.0, 0.0, 0.0]]))
    assert codes.tolist() == [[127, -64, 0], [-127, 50, 64], [0, 0, 0]]  # 0.127 / 0.002 = 63.5, to the even 64
    torch.testing.assert_close(scale[:2], torch.tensor([0.01, 0.002]))
    assert codes.dtype == torch.int8 and scale[2] > 0


def test_a_packed_product_is_within_half_a_step_per_input():
    torch.manual_seed(0)
    linear = torch.nn.Linear(16, 5)
    packed = Int8Linear.of(linear)
    x = torch.randn(7, 16)
    bound = x.abs().sum(dim=1, keepdim=True) * packed.scale / 2 + 1e-5
    assert ((packed(x) - linear(x)).abs() <= bound).all()
    assert packed.weight.shape == (16, 5) and packed.weight.dtype == torch.int8


def test_a_matrix_without_bias_and_a_table():
    torch.manual_seed(0)
    linear = torch.nn.Linear(4, 3, bias=False)
    torch.testing.assert_close(Int8Linear.of(linear)(torch.eye(4)), linear.weight.T, atol=0.01, rtol=0)
    table = torch.nn.Embedding(6, 4)
    packed = Int8Embedding.of(table)
    ids = torch.tensor([[0, 5], [2, 2]])
    assert (packed(ids) - table(ids)).abs().max() <= packed.scale.max() / 2 + 1e-6


def test_cutting_packed_is_packing_the_same_numbers():
    torch.manual_seed(0)
    packed = Int8Linear.of(torch.nn.Linear(6, 5))
    x = torch.randn(3, 6)
    cut = cut_linear(packed, outputs=[4, 1], inputs=[0, 2, 5])
    masked = x * torch.tensor([1, 0, 1, 0, 0, 1.0])
    torch.testing.assert_close(cut(x[:, [0, 2, 5]]), packed(masked)[:, [4, 1]])
    table = Int8Embedding.of(torch.nn.Embedding(6, 4))
    ids = torch.tensor([0, 1])
    torch.testing.assert_close(
        cut_table(table, rows=[5, 2], columns=[3, 0])(ids), table(torch.tensor([5, 2]))[:, [3, 0]]
    )
