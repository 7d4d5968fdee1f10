"""GPTQ: compensated rounding against references."""

import pytest
import torch

import tiny
from calibrated import CONTEXT, drawn
from niwaki.methods.factorize.kronecker import Kronecker
from niwaki.methods.quantize._rounding import rounded
from niwaki.methods.quantize.gptq import Gptq, calibration_order, compensated, in_proportion, input_powers
from niwaki.methods.quantize.rtn import Rtn
from niwaki.models.edits.int8 import Int8 as Int8Edit
from niwaki.models.edits.share import Share
from niwaki.models.packed.low_bit import LowBit, as_float16, best_scale
from niwaki.models.packed.store import StoredLinear


def surgeon(weight, powers, base, group, damping):
    """The update of the optimal brain surgeon row by row, the inverse of what is left worked out anew at each column."""
    columns = weight.shape[1]
    hessian = (powers + damping * powers.diagonal().mean() * torch.eye(columns)).double()
    out = weight.double().clone()
    for row in out:
        for start in range(0, columns, group):
            scale = as_float16(best_scale(row[None, None, start : start + group].float(), base))
            for column in range(start, min(start + group, columns)):
                inverse = torch.linalg.inv(hessian[column:, column:])
                seen = float(rounded(row[None, column, None].float(), scale, base, 1))
                row[column:] += (seen - row[column]) / inverse[0, 0] * inverse[0]
                row[column] = seen
    return out.float()


@pytest.mark.parametrize("base, group", [(16, 4), (7, 5), (4, 12), (3, 12)])
def test_compensation_equals_optimal_brain_surgeon(base, group):
    x = drawn(40, 12, seed=1) @ drawn(12, 12, seed=2)
    weight, powers = drawn(3, 12), x.T @ x
    found, scales = compensated(weight, powers, base, group, 0.01)
    torch.testing.assert_close(found, surgeon(weight, powers, base, group, 0.01), atol=1e-5, rtol=1e-5)
    assert torch.equal(LowBit.of(found, base, group, scales)(), found)  # what is packed is what was found


def test_compensation_of_two_columns():
    """Two inputs that are nearly one: what the first is rounded down by, the second takes on."""
    powers = torch.tensor([[1.0, 1.0], [1.0, 1.0]])
    weight = torch.tensor([[0.3, 1.0]])
    found, scales = compensated(weight, powers, 3, 0, 1e-6)
    step = float(scales)  # the best of one for 0.3 and 1.0: they become 0 and 1
    assert step == 1.0 and found.tolist() == [[0.0, 1.0]]  # 1.0 + 0.3 is nearest to 1
    found, _ = compensated(torch.tensor([[0.45, 1.0, 1.1]]), torch.ones(3, 3), 7, 0, 1e-6)
    assert (
        abs(float(found.sum()) - 2.55)
        < abs(float(LowBit.of(torch.tensor([[0.45, 1.0, 1.1]]), 7)().sum()) - 2.55) + 1e-6
    )


@pytest.mark.parametrize("base, better", [(16, 0.5), (7, 0.5), (4, 0.6)])
def test_compensation_reduces_the_output_error(base, better):
    x = drawn(400, 16, seed=1) @ drawn(16, 64, seed=2) + 0.5 * drawn(400, 64, seed=3)  # inputs that go together
    weight = drawn(32, 64)
    found, _ = compensated(weight, x.T @ x, base, 16, 0.01)
    nearest = LowBit.of(weight, base, 16)()
    assert (x @ (found - weight).T).norm() < better * (x @ (nearest - weight).T).norm()


def test_a_very_large_token_does_not_dominate():
    """As BERT's first token in the feed-forward blocks: one input is huge, and its weight too large for four levels."""
    weight, x = drawn(8, 64), drawn(400, 64, seed=1)
    weight[:, 5] = 12.0
    x[:, 5] = 0.0
    x[::20, 5] = 50.0
    others, nearest = x[x[:, 5] == 0], LowBit.of(weight, 4, 64)()
    even = in_proportion(x, weight)
    torch.testing.assert_close((even @ weight.T).norm(dim=1), torch.ones(400))

    def error(powers):
        return float(
            (others @ (compensated(weight, powers, 4, 64, 0.1)[0] - weight).T).norm()
            / (others @ (nearest - weight).T).norm()
        )

    assert error(even.T @ even) < 1
    assert error(x.T @ x) > 1.5


def test_calibration_order_and_input_powers():
    model = tiny.model("bert")
    model.apply_edit(Share(of=[0, 1, 1]))
    batch = tiny.batch(model)
    turns = calibration_order(model, batch)
    assert [len(paths) for paths, _ in turns] == [3, 1, 1, 1] * 2  # query, key and value read the same
    assert [calls for _, calls in turns] == [3, 1, 1, 1, 6, 2, 2, 2]  # the second layer's are read twice
    paths, calls = turns[0]
    powers = input_powers(model, paths, [batch, batch], calls)
    hidden = model.anatomy.inputs.forward(batch.inputs)[batch.mask.bool()]
    for path in paths:
        even = hidden / (hidden @ model.network.get_submodule(path).weight.T).norm(dim=1, keepdim=True)
        torch.testing.assert_close(powers[path], 2 * even.T @ even, atol=1e-4, rtol=1e-4)
    whole = input_powers(model, turns[4][0], [batch])
    for path, found in input_powers(model, turns[4][0], [batch], turns[4][1]).items():
        assert torch.equal(found, whole[path])  # a pass that ends early is not missed
    assert not any(module._forward_pre_hooks for module in model.network.modules())


@pytest.mark.parametrize("family", ["bert", "albert", "bilstm", "cnn"])
def test_every_matrix_is_packed_with_less_error_than_rtn(family):
    whole = tiny.model(family)
    batches = CONTEXT.calibration(whole, 3)
    packed = [Gptq(bits=3, group=16).prepare(whole.clone(), CONTEXT), Rtn(bits=3, group=16).finish(whole.clone())]
    for path in whole.anatomy.matrices():
        if family != "bilstm" or not path.startswith("body"):
            assert isinstance(packed[0].network.get_submodule(path), StoredLinear)
    errors = [
        sum(float((tiny.logits(model, one) - tiny.logits(whole, one)).square().sum()) for one in batches)
        for model in packed
    ]
    assert errors[0] < errors[1]


def test_packed_matrices_are_rounded_again():
    model = tiny.model("bert")
    model.apply_edit(Int8Edit())
    assert Gptq(bits=2).prepare(model, CONTEXT).anatomy.layers[0].part("query").store.base == 4


def test_factors_of_kronecker_products_are_packed():
    """The inner matrices of a Kronecker product read a table for each token."""
    model = Kronecker(keep=0.5, flops=2.0).prepare(tiny.model("bert"), CONTEXT)
    batch = tiny.batch(model)
    before = tiny.logits(model, batch)
    model = Gptq(bits=4, group=8, embeddings=False).prepare(model, CONTEXT)
    assert all(isinstance(model.network.get_submodule(path), StoredLinear) for path in model.anatomy.matrices())
    torch.testing.assert_close(tiny.logits(model, batch), before, atol=0.5, rtol=0)
