"""Defaults of the `[search]` table that depend on each other."""

import pytest

from niwaki.core.errors import InputError
from niwaki.core.settings import check
from niwaki.run.search_settings import SearchSettings


def test_the_score_is_limited_unless_it_is_the_objective():
    assert SearchSettings().min_score_share == 0.97
    assert SearchSettings(objective="score").min_score_share == 0.0
    assert SearchSettings(objective="score", keep=0.9).min_score_share == 0.9


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, False),
        ({"max_mb": 5, "objective": "score"}, False),
        ({"max_p99_ms": 2}, True),
        ({"min_throughput": 2}, True),
        ({"max_joules_per_1000": 2}, True),
        ({"objective": "latency"}, True),
        ({"objective": "joules"}, True),
    ],
)
def test_timing_is_needed_by_limits_and_objectives_about_time(settings, expected):
    assert SearchSettings(**settings).limits_time is expected


def test_unknown_keys_and_impossible_limits_are_rejected():
    with pytest.raises(InputError, match=r"search.max_bm: unknown key, did you mean 'max_mb'\?"):
        check(SearchSettings, {"max_bm": 10}, "search")
    with pytest.raises(InputError, match=r"search.keep: input should be greater than 0"):
        check(SearchSettings, {"keep": 0}, "search")
    with pytest.raises(InputError, match=r"search.objective"):
        check(SearchSettings, {"objective": "size"}, "search")
