import pytest
import torch

from niwaki.evaluate.looking.attributions import (
    Attributions,
    by_word,
    integrated_gradients,
    mean_gradients,
    rank_correlation,
)


def test_a_linear_function_is_explained_exactly():
    """Each token's attribution is its distance from the baseline times the weights."""
    generator = torch.Generator().manual_seed(0)
    tokens, size = 7, 5
    given, baseline, weights = (torch.randn(tokens, size, generator=generator) for _ in range(3))
    found = integrated_gradients(lambda points: (points * weights).sum(dim=(-1, -2)) + 3, given, baseline)
    torch.testing.assert_close(found.tokens.float(), ((given - baseline) * weights).sum(dim=-1))
    assert found.difference == pytest.approx(float(((given - baseline) * weights).sum()), abs=1e-5)
    assert abs(found.error) < 1e-5 and found.steps == 16


def test_a_product_is_shared_by_its_factors():
    """x · y from (0, 0) to (3, 2): both get half of 6 (Sundararajan et al. 2017)."""
    found = integrated_gradients(lambda p: p[:, 0, 0] * p[:, 1, 0], torch.tensor([[3.0], [2.0]]), torch.zeros(2, 1))
    assert found.tokens.tolist() == pytest.approx([3, 3]) and found.total == pytest.approx(found.difference) == 6


def test_steps_are_doubled_until_the_sum_is_right():
    """A steep function: its mean gradient over the line is wrong with few steps."""
    steep = lambda points: torch.sigmoid(400 * (points[:, 0, 0] - 0.37))  # noqa: E731
    given, baseline = torch.ones(1, 1), torch.zeros(1, 1)
    found = integrated_gradients(steep, given, baseline)
    few = mean_gradients(steep, given, baseline, 16).sum()
    assert found.steps > 16 and abs(found.error) < abs(float(few) - 1)
    assert Attributions(torch.tensor([1.0, 2.0]), 2.5, 16).error == 0.5


def test_tokens_are_summed_by_word():
    assert by_word([1, 2, 4, 8], [-1, 1, 1, 0], 3) == [8, 6, 0]


def test_rank_correlation():
    assert rank_correlation([1, 2, 3, 4], [2, 1, 4, 3]) == pytest.approx(0.6)  # 1 - 6 · 4 / (4 · 15)
    assert rank_correlation([1, 2], [1, 2]) is None and rank_correlation([1, 1, 1], [1, 2, 3]) is None
