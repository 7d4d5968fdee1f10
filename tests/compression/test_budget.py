"""Budgets are read strictly."""

import pytest

from niwaki.compression.budget import Budget, parse_budget
from niwaki.core.errors import UsageError


@pytest.mark.parametrize(
    ("given", "budget"),
    [
        (None, Budget()),
        ("10MB", Budget(bytes=10e6)),
        (" 1.5 GB ", Budget(bytes=1.5e9)),
        ("200kB", Budget(bytes=200e3)),
        ("5ms", Budget(latency_ms=5.0)),
        ("90s", Budget(seconds=90.0)),
        ("2min", Budget(seconds=120.0)),
        ("1h", Budget(seconds=3600.0)),
        ("10MB, 5ms,2min", Budget(10e6, 5.0, 120.0)),
        (["10MB", "5ms"], Budget(10e6, 5.0)),
    ],
)
def test_numbers_with_units_are_read(given, budget):
    assert parse_budget(given) == budget


@pytest.mark.parametrize(
    "given",
    [
        "",
        "10",
        "MB",
        "10mb",
        "10 megabytes",
        "-1MB",
        "0MB",
        "1e3MB",
        "10MB 5ms",
        "nanMB",
        "10MB,",
        "5MB,10MB",
        10,
        ["10MB", 5],
        b"1MB",
    ],
)
def test_other_budgets_are_rejected_in_one_line(given):
    with pytest.raises(UsageError) as error:
        parse_budget(given)
    assert str(error.value).startswith("budget") and "\n" not in str(error.value)


def test_a_budget_prints_its_limits():
    assert str(parse_budget("10MB,5ms")) == "10 MB, 5 ms"
