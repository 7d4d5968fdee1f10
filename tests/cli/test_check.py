"""The line that `niwaki check` ends with."""

import pytest

from niwaki.cli.check import span, summary

TOTAL = {
    "cpu_seconds_range": [300, 768],
    "seconds_range": [150, 384],
    "cores": 2,
    "load": 0.1,
    "megabytes": 965.0,
    "teachers_megabytes": 0.0,
}


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (2, 5, "2 to 5 s"),
        (40, 90, "40 to 90 s"),
        (100, 250, "1.7 to 4.2 min"),
        (300, 768, "5 to 13 min"),
        (9000, 23000, "2.5 to 6.4 h"),
    ],
)
def test_a_range_is_given_in_the_unit_that_reads_best(low, high, text):
    assert span(low, high) == text


def test_a_busy_machine_is_named():
    assert (
        summary(TOTAL) == "fine; 5 to 13 min of CPU time with baselines and race, so 2.5 to 6.4 min on 2 cores; 965 MB"
    )
    assert "on 2 cores, which are busy now (load 3.0)" in summary({**TOTAL, "load": 3.0})
    assert "on 1 core;" in summary({**TOTAL, "cores": 1})
    assert "at most 12 MB more" in summary({**TOTAL, "teachers_megabytes": 12.0})
