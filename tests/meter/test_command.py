"""Any command under a window, and CodeCarbon's file format."""

import pytest

from meter.work import BURN, PYTHON, KernelClock
from niwaki.core.errors import UsageError
from niwaki.meter.command import measure


def test_a_command_is_measured_with_its_children() -> None:
    code = "import os, sys\nif os.fork() == 0:\n    burn(0.2)\n    os._exit(0)\nos.wait(); burn(0.1)"
    with KernelClock() as clock:
        measured = measure([*PYTHON, BURN + code], place="FRA")
    assert measured.exit_code == 0 and 0.3 <= measured.total.cpu_seconds <= clock.seconds
    assert measured.total.co2e_grams is not None


def test_repeats_are_reported_separately_and_stop_at_a_failure() -> None:
    assert len(measure([*PYTHON, "pass"], repeats=3).readings) == 3
    failed = measure([*PYTHON, "raise SystemExit(7)"], repeats=3)
    assert failed.exit_code == 7 and len(failed.readings) == 1


def test_a_command_ended_by_a_signal_has_its_number() -> None:
    assert measure([*PYTHON, "import os; os.kill(os.getpid(), 9)"]).exit_code == 137


def test_a_command_that_cannot_start_is_reported_in_one_line() -> None:
    with pytest.raises(UsageError, match=r"no-such-program cannot be started \(No such file"):
        measure(["no-such-program"])
    with pytest.raises(UsageError, match="no command given"):
        measure([])
    with pytest.raises(UsageError, match="repeats"):
        measure(["true"], repeats=0)
