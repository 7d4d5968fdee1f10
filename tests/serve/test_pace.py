import pytest

from niwaki.serve.pace import Pace


def test_estimates_follow_the_batches():
    pace = Pace(max_tokens=128)
    assert pace.expected_seconds(10) == 0 and pace.estimated_tokens(40) == 12
    for _ in range(50):
        pace.observe(characters=500, tokens=120, texts=10, seconds=0.06)  # 100 tokens without the special ones
    assert pace.expected_seconds(1000) == pytest.approx(0.5)
    assert pace.tokens_in(0.1) == pytest.approx(200, abs=1)
    assert pace.estimated_tokens(50) == 12


def test_tokens_are_limited_as_texts_are_truncated():
    assert Pace(max_tokens=128).estimated_tokens(1_000_000) == 128


def test_speed_changes_are_noticed_within_twenty_batches():
    pace = Pace(max_tokens=128)
    pace.observe(400, 100, 1, 0.1)
    for _ in range(20):
        pace.observe(400, 100, 1, 0.2)
    assert pace.expected_seconds(100) == pytest.approx(0.2, rel=0.1)


def test_long_texts_that_were_cut_do_not_change_the_characters_per_token():
    pace = Pace(max_tokens=128)
    pace.observe(characters=1_000_000, tokens=128, texts=1, seconds=0.1)
    assert pace.estimated_tokens(100) >= 25


def test_empty_batches_are_harmless():
    pace = Pace(max_tokens=128)
    pace.observe(0, 0, 1, 0.0)
    assert pace.expected_seconds(5) == 0 and pace.estimated_tokens(8) == 4 and pace.tokens_in(1) > 10**6
