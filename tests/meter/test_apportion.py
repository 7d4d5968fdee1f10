"""The share of a machine that a process used."""

from niwaki.meter.apportion import shares
from niwaki.meter.reader import Usage


def test_shares_match_values_computed_by_hand() -> None:
    low, share, high = shares(Usage(seconds=1, cpu_seconds=1, vcpus=4, host_busy_seconds=2))
    assert share == 0.5 and 0.48 < low < 0.5 < high < 0.52
    assert shares(Usage(seconds=1, cpu_seconds=0, vcpus=4, host_busy_seconds=2)) == (0, 0, 0)
    assert shares(Usage(seconds=0.01, cpu_seconds=0.01, vcpus=4)) == (0.25, 0.5, 1.0)  # too short to see the others
    assert shares(Usage(seconds=1, cpu_seconds=1, vcpus=1, host_busy_seconds=0.9))[1:] == (1.0, 1.0)  # never above all
