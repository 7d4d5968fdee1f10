import pytest
import torch
from torch import nn
from transformers.activations import ACT2FN

from models.fused.comparing import assert_same, compiled, linear, poisoned
from niwaki.models.fused.feed_forward import feed_forward, fits

pytestmark = compiled


@pytest.mark.parametrize("approximate", ["none", "tanh"])
@pytest.mark.parametrize("shape", [(1, 2, 2), (9, 34, 66), (50, 128, 512)])
def test_outputs_and_gradients_agree_with_torch(shape: tuple[int, int, int], approximate: str) -> None:
    activation = nn.GELU(approximate)
    tokens, hidden, inner = shape
    rows, first, second = poisoned(tokens, hidden), linear(hidden, inner), linear(inner, hidden)
    assert_same(
        lambda: feed_forward(rows, first, activation, second),
        lambda: second(activation(first(rows.float()))),
        [rows, *first.parameters(), *second.parameters()],
    )


@pytest.mark.parametrize("approximate", ["none", "tanh"])
def test_gelu_is_exact_for_small_and_large_inputs(approximate: str) -> None:
    activation = nn.GELU(approximate)
    values = torch.tensor([-20.0, -5.0, -3.0, -1.0, -1e-3, 0.0, 1e-3, 0.5, 2.0, 6.0, 20.0, 90.0])
    rows = values[:, None].repeat(1, 2).bfloat16().requires_grad_()
    one, other = nn.Linear(2, 2, bias=False), nn.Linear(2, 2, bias=False)
    for module in (one, other):
        nn.init.eye_(module.weight)
    assert_same(lambda: feed_forward(rows, one, activation, other), lambda: activation(rows.float()), [rows])


def test_only_gelus_are_replaced() -> None:
    rows, module = torch.zeros(2, 4, dtype=torch.bfloat16), nn.Linear(4, 4)
    with torch.autocast("cpu", torch.bfloat16):
        for activation, expected in ((nn.GELU(), True), (nn.GELU("tanh"), True), (nn.ReLU(), False)):
            assert fits(rows, module, activation, module) is expected
        assert fits(rows, module, ACT2FN["gelu"], module)
        assert fits(rows, module, ACT2FN["gelu_new"], module)
        assert not fits(rows, module, ACT2FN["gelu_10"], module)
