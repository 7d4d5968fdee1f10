"""The load of a machine, from counters written by hand."""

import os
import time

import pytest

from niwaki.core.system import TICK_SECONDS
from niwaki.evaluate.machine_load import LoadMonitor, shares, spread
from niwaki.meter.machine import Host


def host(busy: float, steal: float, idle: float) -> Host:
    ticks = [round(seconds / TICK_SECONDS) for seconds in (busy, 0, 0, idle, 0, 0, 0, steal)]
    return Host(ticks)


def test_shares_by_hand() -> None:
    # in 20 CPU seconds of the machine 9 were used, 5 of them by ourselves; 1 was stolen, 10 were idle
    found = shares(host(100, 10, 200), host(109, 11, 210), own_seconds=5)
    assert found == pytest.approx({"steal": 0.05, "others": 0.2})


def test_own_cpu_time_is_not_counted_as_others() -> None:
    assert shares(host(0, 0, 0), host(10, 0, 10), own_seconds=10.01)["others"] == 0.0


@pytest.mark.parametrize("after", [None, host(1, 1, 1)], ids=["no /proc", "no time passed"])
def test_unknown_load_is_none(after: Host | None) -> None:
    assert shares(host(1, 1, 1), after, 0.0) == {"steal": None, "others": None}


def test_the_spread_is_that_of_the_middle_contender() -> None:
    assert spread([[1.0, 1.1, 1.0], [2.0, 3.0, 2.0], [5.0, 5.0, 5.0]]) == pytest.approx(0.1)


def test_monitor_reads_this_machine() -> None:
    watch = LoadMonitor()
    until = time.process_time() + 0.05
    while time.process_time() < until:
        pass
    found = watch.conditions([[1.0, 1.0]])
    assert found.keys() == {"load", "steal", "others", "spread"} and found["spread"] == 0.0
    assert found["load"] == pytest.approx(os.getloadavg()[0], abs=5)
    assert all(found[key] is None or 0 <= found[key] <= 1 for key in ("steal", "others"))
