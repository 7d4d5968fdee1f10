import torch

from niwaki.models.squared_error import squared_error


def test_value_and_gradients_agree_with_plain_operations() -> None:
    torch.manual_seed(0)
    a, b = torch.randn(2, 3, 4, dtype=torch.bfloat16, requires_grad=True), torch.randn(2, 3, 4, requires_grad=True)
    real = torch.tensor([[1.0, 1.0, 0.0], [1.0, 0.0, 0.0]])[..., None]
    for chosen in (real, None):
        found, expected = (
            squared_error(a, b, chosen),
            ((a.float() - b).square() * (1.0 if chosen is None else chosen)).sum(),
        )
        assert torch.allclose(found, expected)
        for one, other in zip(torch.autograd.grad(found, [a, b]), torch.autograd.grad(expected, [a, b]), strict=True):
            assert one.dtype == other.dtype and torch.allclose(one, other)
