"""Every packed format, read without torch, against the torch module."""

import numpy as np
import pytest
import torch
from torch import nn

from niwaki.engines.native import stores as s
from niwaki.models.packed import int8, kronecker, low_bit, sparse

DRAW = torch.Generator().manual_seed(3)


def weights(rows: int, columns: int) -> torch.Tensor:
    return torch.randn(rows, columns, generator=DRAW)


def tensors(module: nn.Module) -> dict[str, np.ndarray]:
    return {name: value.detach().numpy() for name, value in module.state_dict().items()}


@pytest.mark.parametrize("base", low_bit.DIGITS_PER_WORD)
@pytest.mark.parametrize(("columns", "group"), [(24, 8), (37, 0), (20, 64), (1, 1)])
def test_low_bit_weights_are_unpacked_like_torch(base, columns, group):
    packed = low_bit.LowBit.of(weights(5, columns), base, group)
    store = s.LowBit(words="words", scale="scale", base=base, group=packed.group, columns=columns)
    np.testing.assert_array_equal(store.floats(tensors(packed)), packed().detach().numpy())
    codes, scale = store.read(tensors(packed))
    wanted, steps = int8.quantize_rows(packed())
    np.testing.assert_array_equal(codes, wanted.numpy())
    np.testing.assert_array_equal(scale, steps.numpy())


@pytest.mark.parametrize("base", [0, 16, 255])
def test_sparse_weights_are_unpacked_like_torch(base):
    weight = weights(9, 21) * (weights(9, 21) > 0.7)
    packed = sparse.Sparse.of(weight, base)
    values = (
        s.LowBit(
            words="nonzeros.words",
            scale="nonzeros.scale",
            base=base,
            group=packed.nonzeros.group,
            columns=packed.nonzeros.columns,
        )
        if base
        else s.Floats(weight="nonzeros.values")
    )
    found = s.Sparse(bits="bits", values=values, rows=9, columns=21).read(tensors(packed))
    wanted = packed().detach().numpy()
    if base:
        assert found[0].dtype == np.int8 and np.array_equal(found[0] != 0, np.abs(wanted) > found[1][:, None] / 2)
        np.testing.assert_allclose(s.floats(found), wanted, atol=float(found[1].max()))
    else:
        np.testing.assert_array_equal(found[0], wanted)


@pytest.mark.parametrize("packed", [False, True])
def test_kronecker_weights_are_computed_like_torch(packed):
    linear = nn.Linear(24, 16)
    module = kronecker.Kronecker.of(linear, (4, 6, 3))
    if packed:
        module.first, module.second = int8.pack_int8(module.first), int8.pack_int8(module.second)

    def part(name: str):
        return (
            s.Int8(weight=f"{name}.weight", scale=f"{name}.scale", transposed=True)
            if packed
            else s.Floats(weight=f"{name}.weight")
        )

    found = s.Kronecker(first=part("first"), second=part("second"), terms=3).read(tensors(module))
    assert (found[1] is not None) == packed
    wanted = module.to_dense().weight.detach().numpy()
    np.testing.assert_allclose(s.floats(found), wanted, atol=float(found[1].max()) / 2 + 1e-6 if packed else 1e-6)


def test_int8_weights_may_be_transposed():
    packed = int8.Int8Linear.of(nn.Linear(7, 5))
    codes, scale = s.Int8(weight="weight", scale="scale", transposed=True).read(tensors(packed))
    np.testing.assert_allclose(codes * scale[:, None], packed.to_dense().weight.detach().numpy(), atol=1e-7)


BAD = {
    "no such tensor": (s.Floats(weight="x"), {}),
    "another type": (s.Floats(weight="x"), {"x": np.zeros((2, 2), np.float64)}),
    "another rank": (s.Floats(weight="x"), {"x": np.zeros(4, np.float32)}),
    "nothing in it": (s.Floats(weight="x"), {"x": np.zeros((0, 4), np.float32)}),
    "too few scales": (s.Int8(weight="x", scale="y"), {"x": np.zeros((3, 2), np.int8), "y": np.ones(2, np.float32)}),
    "too few words": (
        s.LowBit(words="x", scale="y", base=16, group=8, columns=9),
        {"x": np.zeros((3, 4), np.uint8), "y": np.ones((3, 2), np.float16)},
    ),
    "too many columns": (
        s.LowBit(words="x", scale="y", base=16, group=1 << 31, columns=1 << 31),
        {"x": np.zeros((3, 4), np.uint8), "y": np.ones((3, 1), np.float16)},
    ),
    "too few bits": (
        s.Sparse(bits="x", values=s.Floats(weight="y"), rows=99, columns=9),
        {"x": np.zeros(3, np.uint8), "y": np.ones((1, 5), np.float32)},
    ),
    "too few values": (
        s.Sparse(bits="x", values=s.Floats(weight="y"), rows=4, columns=4),
        {"x": np.full(2, 255, np.uint8), "y": np.ones((1, 5), np.float32)},
    ),
    "terms that do not divide": (
        s.Kronecker(first=s.Floats(weight="x"), second=s.Floats(weight="x"), terms=3),
        {"x": np.zeros((4, 4), np.float32)},
    ),
    "too large": (
        s.Sparse(bits="x", values=s.Floats(weight="y"), rows=1 << 24, columns=1 << 16),
        {"x": np.zeros(3, np.uint8)},
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_oversized_weights_are_rejected_before_allocation(name):
    store, given = BAD[name]
    with pytest.raises(s.ProgramError):
        store.read(given)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_non_finite_weights_are_rejected(value):
    """As bytes they would be some number."""
    weight = np.ones((2, 3), dtype=np.float32)
    weight[1, 2] = value
    with pytest.raises(s.ProgramError, match="'weight' holds numbers that are not finite"):
        s.Floats(weight="weight").read({"weight": weight})
