import pytest
import torch

from models.fused.comparing import assert_same, attended, compiled, poisoned, scores
from niwaki.models.fused.attention import attention, attention_and_scores, fits

pytestmark = compiled


@pytest.mark.parametrize("lengths", [[1], [1, 2, 16], [5, 9, 17, 33], [100]])
@pytest.mark.parametrize(("heads", "head_size"), [(1, 16), (3, 32), (2, 48)])
@pytest.mark.parametrize(("first", "causal"), [(False, False), (True, False), (False, True)])
def test_outputs_and_gradients_agree_with_torch(
    lengths: list[int], heads: int, head_size: int, first: bool, causal: bool
) -> None:
    tokens, width = sum(lengths), heads * head_size
    query = poisoned(len(lengths) if first else tokens, width)
    key, value = poisoned(tokens, width, seed=1), poisoned(tokens, width, seed=2)
    # gradients of queries and keys vanish where there is a single token
    inputs = [query, key, value] if max(lengths) > 1 else [value]
    assert_same(
        lambda: attention(query, key, value, torch.tensor(lengths), head_size, 0.3, 0.0, causal),
        lambda: attended(query, key, value, lengths, head_size, 0.3, causal),
        inputs,
    )


@pytest.mark.parametrize("causal", [False, True])
def test_scores_before_softmax_are_returned_and_take_gradients(causal: bool) -> None:
    lengths, head_size = [7, 1, 18], 16
    query, key, value = (poisoned(26, 48, seed=seed) for seed in range(3))
    for weight in (0.0, 1.0):  # of the mixed values, so that the gradient of scores alone is compared too
        assert_same(
            lambda weight=weight: together(  # type: ignore[misc]
                weight, *attention_and_scores(query, key, value, torch.tensor(lengths), head_size, 0.3, 0.0, causal)
            ),
            lambda weight=weight: together(  # type: ignore[misc]
                weight,
                attended(query, key, value, lengths, head_size, 0.3, causal),
                *scores(query, key, lengths, head_size, 0.3),
            ),
            [query, key, value] if weight else [query, key],
        )


def together(weight: float, mixed: torch.Tensor, *found: torch.Tensor) -> torch.Tensor:
    return torch.cat([weight * mixed.float().flatten(), *(one.flatten() for one in found)])


def test_a_token_reads_none_behind_it_and_gives_them_no_gradient() -> None:
    query, key, value = (poisoned(40, 32, seed=seed) for seed in range(3))
    with torch.autocast("cpu", torch.bfloat16):
        mixed = attention(query, key, value, torch.tensor([3, 37]), 16, 0.3, 0.0, causal=True)
    mixed[:13].float().sum().backward()
    assert value.grad is not None and key.grad is not None
    assert value.grad[:13].any(dim=1).all() and not value.grad[13:].any() and not key.grad[13:].any()


def test_dropout_keeps_the_mean_and_is_the_same_in_the_backward_pass() -> None:
    lengths, width = torch.tensor([40] * 20), 32
    query, key = (torch.zeros(800, width, dtype=torch.bfloat16, requires_grad=True) for _ in range(2))
    value = torch.ones(800, width, dtype=torch.bfloat16, requires_grad=True)
    mixed = attention(query, key, value, lengths, width, 1.0, 0.5)
    assert abs(float(mixed.detach().float().mean()) - 1) < 0.05
    mixed.float().sum().backward()
    # each value is read with the weights that were not dropped: both sums are over the same mask
    assert torch.allclose(value.grad[:, 0].view(20, 40).sum(1), mixed[:, 0].view(20, 40).sum(1), rtol=0.02)  # type: ignore[index]


def test_head_sizes_that_do_not_fill_vectors_are_left_to_torch() -> None:
    rows = torch.zeros(2, 48, dtype=torch.bfloat16)
    with torch.autocast("cpu", torch.bfloat16):
        assert fits(rows, 16)
        assert not fits(rows, 12)
