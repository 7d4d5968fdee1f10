import pytest
import torch
from torch.nn import functional

from models.fused.comparing import compiled, poisoned
from niwaki.models.fused.cross_entropy import cross_entropy, fits

pytestmark = compiled


@pytest.mark.parametrize("shape", [(1, 1), (3, 17), (33, 100), (5, 8000)])
@pytest.mark.parametrize("upstream", [1.0, 0.25])
def test_loss_and_gradient_agree_with_torch(shape: tuple[int, int], upstream: float) -> None:
    logits = poisoned(*shape, seed=shape[1])
    targets = torch.randint(shape[1], (shape[0],), generator=torch.Generator().manual_seed(0))
    targets[-1] = shape[1] - 1
    with torch.autocast("cpu", torch.bfloat16):
        found = cross_entropy(logits, targets)
    expected = functional.cross_entropy(logits.float(), targets)
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-6)
    own, theirs = (torch.autograd.grad(upstream * loss, logits)[0].float() for loss in (found, expected))
    torch.testing.assert_close(own, theirs, rtol=0.01, atol=1e-6)


def test_large_logits_give_a_finite_loss() -> None:
    logits = torch.tensor([[1e4, -1e4, 0.0], [-1e4, -1e4, -1e4]]).bfloat16().requires_grad_()
    with torch.autocast("cpu", torch.bfloat16):
        loss = cross_entropy(logits, torch.tensor([0, 2]))
    assert float(loss) == pytest.approx(0.5 * torch.log(torch.tensor(3.0)).item(), rel=1e-5)
    assert torch.autograd.grad(loss, logits)[0].isfinite().all()


def test_targets_outside_of_the_vocabulary_are_an_error() -> None:
    logits = torch.zeros(2, 4, dtype=torch.bfloat16, requires_grad=True)
    for wrong in (4, -100):
        with torch.autocast("cpu", torch.bfloat16), pytest.raises(IndexError, match="not one of the classes"):
            cross_entropy(logits, torch.tensor([0, wrong]))


def test_logits_without_gradients_and_in_fp32_are_left_to_torch() -> None:
    logits = torch.zeros(2, 4, dtype=torch.bfloat16, requires_grad=True)
    with torch.autocast("cpu", torch.bfloat16):
        assert fits(logits)
        assert not fits(logits.detach()) and not fits(logits.float())
