"""What a window counts: all of its own work, nothing of others', whatever happens inside."""

import asyncio
import os
import subprocess
import sys
import threading
import time

import pytest

import niwaki.meter
from meter.work import BURN, TICKS, KernelClock, burn
from niwaki.core.errors import InputError, UsageError
from niwaki.meter import meter
from niwaki.meter.readers.vcpu import watts_per_vcpu


def test_sleep_costs_nothing() -> None:
    with KernelClock() as clock, meter() as m:
        time.sleep(0.3)
    assert m.reading.seconds >= 0.3
    assert 0 < m.reading.cpu_seconds <= clock.seconds + TICKS < 0.2


@pytest.mark.parametrize("cpu_seconds", [0.01, 0.1, 0.5])
def test_joules_are_linear_in_cpu_time(cpu_seconds: float) -> None:
    with KernelClock() as clock, meter() as m:
        burn(cpu_seconds)
    assert cpu_seconds <= m.reading.cpu_seconds <= clock.seconds + TICKS
    assert m.reading.joules == pytest.approx(m.reading.cpu_seconds * watts_per_vcpu()["max"])


def test_nested_windows_add_up() -> None:
    with KernelClock() as clock, meter() as outer:
        with meter() as first:
            burn(0.1)
        with meter() as second:
            burn(0.2)
    inner = first.reading + second.reading
    assert 0.3 <= inner.cpu_seconds <= outer.reading.cpu_seconds <= clock.seconds + TICKS
    assert inner.joules is not None and inner.joules <= outer.reading.joules
    assert not any(window.reading.detail["overlaps"] for window in (outer, first, second))


def test_windows_in_two_threads_at_once_are_flagged() -> None:
    windows, both = [], threading.Barrier(2)

    def work() -> None:
        with meter() as m:
            both.wait()
            burn(0.02)
            both.wait()
        windows.append(m)

    threads = [threading.Thread(target=work) for _ in range(2)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert [window.reading.detail["overlaps"] for window in windows] == [True, True]
    assert "overlaps" in str(windows[0].reading)


def test_a_thread_whose_window_lies_within_another_threads_is_flagged() -> None:
    inner = []

    def work() -> None:
        with meter() as m:
            burn(0.01)
        inner.append(m)

    with meter() as outer:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert inner[0].reading.detail["overlaps"] and outer.reading.detail["overlaps"]


def test_windows_that_cross_are_flagged_and_ones_in_turn_are_not() -> None:
    one, other, later = meter(), meter(), meter()
    one.__enter__()
    other.__enter__()
    one.__exit__(None, None, None)
    other.__exit__(None, None, None)
    with later:
        pass
    assert [window.reading.detail["overlaps"] for window in (one, other, later)] == [True, True, False]


def test_two_processes_do_not_count_each_other() -> None:
    code = (
        "from niwaki.meter import meter\nstart = time.process_time()\nwith meter() as m: burn(0.4)\n"
        "print(m.reading.cpu_seconds, time.process_time() - start)"
    )
    command = [sys.executable, "-c", BURN + code]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    for process in both:
        out, _ = process.communicate()
        counted, own = map(float, out.split())
        assert 0.4 <= counted <= own


def test_an_exception_inside_still_records_and_is_not_swallowed() -> None:
    with KernelClock() as clock, pytest.raises(ZeroDivisionError), meter() as m:
        burn(0.05)
        _ = 1 / 0
    assert 0.05 <= m.reading.cpu_seconds <= clock.seconds + TICKS


def test_decorator_bare_with_options_and_async() -> None:
    @meter
    def bare() -> int:
        burn(0.02)
        return 7

    @meter(place="FRA")
    def raising() -> None:
        burn(0.02)
        raise KeyError

    @meter
    async def waiting() -> None:
        await asyncio.sleep(0.02)
        burn(0.02)

    with KernelClock() as clock:
        assert bare() == 7 and bare() == 7
    with pytest.raises(KeyError):
        raising()
    asyncio.run(waiting())
    assert bare.total.detail["repeats"] == 2 and 0.04 <= bare.total.cpu_seconds <= clock.seconds + TICKS
    assert raising.reading.co2e_grams > 0
    assert waiting.reading.cpu_seconds >= 0.02 and waiting.reading.seconds >= 0.04


def test_a_window_costs_little_more_than_the_counters_it_reads() -> None:
    """In units of one read of a file in /proc (about 9 µs), because processors differ and share their cores."""
    code = """
import time
from niwaki.meter import meter
def least(function):
    def batch():
        start = time.thread_time()
        for _ in range(100):
            function()
        return time.thread_time() - start
    return min(batch() for _ in range(60))
def window():
    with meter():
        pass
def read():
    with open("/proc/self/stat", "rb") as file:
        file.read()
window()
print(least(window) / least(read))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert float(done.stdout) < 3, done.stdout  # measured: 0.94


def test_no_socket_no_subprocess_no_thread() -> None:
    code = """
import sys, threading
seen = []
words = ("socket.", "subprocess.", "os.fork", "os.exec", "os.spawn", "os.posix_spawn", "os.system", "pty.")
sys.addaudithook(lambda event, args: seen.append(event) if event.startswith(words) else None)
import subprocess
from niwaki.meter import meter
with meter(place="FRA", price="aws-m7i") as m:
    sum(range(1000))
str(m.reading); m.reading.to_dict()
with meter() as m: pass
assert threading.active_count() == 1
assert not {"torch", "numpy", "pydantic"} & set(sys.modules)  # a light part stays light
clean = list(seen)
subprocess.run(["true"])  # the hook does see what it should
print(clean, "subprocess.Popen" in seen)
"""
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out == "[] True\n"


def test_a_window_is_used_once_and_read_when_closed() -> None:
    window = meter()
    with pytest.raises(UsageError, match="after the window has closed"):
        _ = window.reading
    with window:
        burn(0.01)
        so_far = window.peek()
    with pytest.raises(UsageError, match="used before"), window:
        pass
    assert 0.01 <= so_far.cpu_seconds <= window.reading.cpu_seconds


def test_an_unknown_place_is_rejected_before_the_work() -> None:
    with pytest.raises(InputError, match="did you mean 'France'"):
        meter(place="Frnce")


def test_the_package_itself_is_callable() -> None:
    with niwaki.meter() as m:
        burn(0.01)
    assert m.reading.cpu_seconds >= 0.01


def test_a_window_carried_through_fork_ends_well_in_the_child() -> None:
    with meter() as m:
        burn(0.5)
        pid = os.fork()
        if pid == 0:
            burn(0.02)
            m.__exit__(None, None, None)
            own = time.process_time()  # copying a large process is part of it; the parent's work is not
            os._exit(0 if 0.02 <= m.reading.cpu_seconds <= own + TICKS else 1)
        assert os.waitpid(pid, 0)[1] == 0
    assert m.reading.cpu_seconds >= 0.5
