"""What a window counts: all of its own work, nothing of others', whatever happens inside."""

import asyncio
import json
import os
import statistics
import subprocess
import sys
import threading
import time

import pytest

import niwaki.meter
from niwaki.core.errors import InputError, UsageError
from niwaki.meter import Reading, meter
from niwaki.meter.reader import Energy, Reader
from niwaki.meter.readers.vcpu import VCpu, watts_per_vcpu
from niwaki.meter.window import ReaderSet

from .work import BURN, PYTHON, burn, child, waiting_child


def test_two_seconds_of_sleep_cost_less_than_five_milliseconds_of_work() -> None:
    with meter() as m:
        time.sleep(2)
    assert m.reading.seconds >= 2
    assert 0 < m.reading.cpu_seconds < 0.005
    assert m.reading.joules is not None and m.reading.joules < 0.005 * watts_per_vcpu()["max"]


@pytest.mark.parametrize(("cpu_seconds", "repeats"), [(0.01, 9), (0.1, 5), (1.0, 1)])
def test_joules_are_linear_in_cpu_time(cpu_seconds: float, repeats: int) -> None:
    found = []
    for _ in range(repeats):
        with meter() as m:
            burn(cpu_seconds)
        assert m.reading.joules is not None
        found.append(m.reading.joules)
    assert statistics.median(found) == pytest.approx(cpu_seconds * watts_per_vcpu()["max"], rel=0.02)


def test_ten_short_children_are_fully_counted() -> None:
    messages = 0.0
    with meter() as m:
        for _ in range(10):
            # each says itself what it used, up to its last statement
            out, _ = child("burn(0.2); print(time.process_time())").communicate()
            messages += float(out)
    assert messages >= 2.0
    assert messages <= m.reading.cpu_seconds <= messages * 1.15  # starting and ending them is work too


def test_a_live_child_is_counted_and_its_past_is_not() -> None:
    with waiting_child("burn(0.3)"):
        with meter() as after_its_work:
            time.sleep(0.01)
        with meter() as own:
            burn(0.1)
    assert after_its_work.reading.cpu_seconds < 0.03
    assert own.reading.cpu_seconds == pytest.approx(0.1, abs=0.03)


def test_a_child_still_alive_at_the_end_is_counted() -> None:
    with meter() as m:
        holder = waiting_child("burn(0.3)")
        holder.__enter__()
    holder.__exit__(None, None, None)
    assert 0.3 <= m.reading.cpu_seconds < 0.45


def test_a_child_that_spans_the_start_is_charged_only_for_what_it_did_inside() -> None:
    process = child("burn(0.3); print('ready', flush=True); input(); burn(0.2)")
    assert process.stdout is not None
    process.stdout.readline()
    with meter() as m:
        process.communicate("go\n")  # ends and is reaped inside the window
    assert m.reading.cpu_seconds == pytest.approx(0.2, abs=0.05)


def test_a_grandchild_alive_is_counted() -> None:
    inner = BURN + "burn(0.3)\nprint('ready', flush=True)\ninput()"
    code = f"import subprocess, sys\nsubprocess.run([sys.executable, '-I', '-S', '-c', {inner!r}])"
    process = child(code)
    with meter() as m:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
    process.communicate("go\n")
    assert 0.3 <= m.reading.cpu_seconds < 0.5


def test_nested_windows_add_up() -> None:
    with meter() as outer:
        with meter() as first:
            burn(0.2)
        with meter() as second:
            burn(0.3)
    inner = first.reading + second.reading
    assert inner.joules is not None
    assert outer.reading.joules == pytest.approx(inner.joules, rel=0.01)
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
    code = "from niwaki.meter import meter\nwith meter() as m: burn(0.4)\nprint(m.reading.cpu_seconds)"
    command = [sys.executable, "-c", BURN + code]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    for process in both:
        out, _ = process.communicate()
        assert float(out) == pytest.approx(0.4, rel=0.05)


def test_an_exception_inside_still_records_and_is_not_swallowed() -> None:
    with pytest.raises(ZeroDivisionError), meter() as m:
        burn(0.05)
        _ = 1 / 0
    assert m.reading.cpu_seconds == pytest.approx(0.05, rel=0.1)


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

    assert bare() == 7 and bare() == 7
    with pytest.raises(KeyError):
        raising()
    asyncio.run(waiting())
    assert bare.total.detail["repeats"] == 2 and bare.total.cpu_seconds == pytest.approx(0.04, rel=0.2)
    assert raising.reading.co2e_grams > 0
    assert waiting.reading.cpu_seconds >= 0.02 and waiting.reading.seconds >= 0.04


def test_a_window_costs_less_than_fifty_microseconds() -> None:
    def windows(count: int) -> float:
        start = time.process_time()
        for _ in range(count):
            with meter():
                pass
        return (time.process_time() - start) / count

    windows(10)
    assert statistics.median(windows(200) for _ in range(9)) < 50e-6


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


def test_without_a_place_there_is_no_co2e_and_without_a_price_no_money() -> None:
    with meter(pue=1.5) as m:
        burn(0.01)
    reading = m.reading
    assert reading.co2e_grams is None and reading.usd is None
    assert reading.joules is not None
    assert reading.detail["co2e_assumed_grams"] == pytest.approx(reading.joules / 3.6e6 * 1.5 * 481)
    assumed = [item for item in reading.detail["constants"] if item.get("assumed")]
    assert any(item["value"] == 481 and item["year"] == 2023 for item in assumed)
    low, high = reading.detail["usd_assumed"]
    assert 0 < low < high


def test_with_a_place_and_a_price_both_are_worked_out() -> None:
    with meter(place="FRA", pue=1.2, price=0.05) as m:
        burn(0.02)
    reading = m.reading
    assert reading.joules is not None
    assert reading.co2e_grams == pytest.approx(reading.joules / 3.6e6 * 1.2 * 56)
    assert reading.usd == pytest.approx(reading.seconds / 3600 * 0.05 * os.cpu_count())
    assert reading.detail["co2e_low_grams"] < reading.co2e_grams < reading.detail["co2e_high_grams"]


def test_an_unknown_place_is_rejected_before_the_work() -> None:
    with pytest.raises(InputError, match="did you mean 'France'"):
        meter(place="Frnce")


def test_every_constant_has_its_source_and_a_reading_is_plain_data() -> None:
    with meter(place="SWE", price="aws-m7i") as m:
        burn(0.15)  # long enough for the machine's load to be seen
    reading = m.reading
    assert reading.tier == "estimated" and reading.joules is not None and reading.marginal_joules is not None
    assert reading.joules_low < reading.joules < reading.joules_high and reading.marginal_joules < reading.joules
    assert all(item["source"] and "year" in item for item in reading.detail["constants"])
    assert 0 <= reading.detail["host"]["steal"] <= 1 and reading.detail["host"]["load"] >= 0
    assert Reading.from_dict(json.loads(json.dumps(reading.to_dict()))) == reading


def test_the_package_itself_is_callable() -> None:
    with niwaki.meter() as m:
        burn(0.01)
    assert m.reading.cpu_seconds >= 0.01


def test_a_window_carried_through_fork_ends_well_in_the_child() -> None:
    with meter() as m:
        burn(0.05)
        pid = os.fork()
        if pid == 0:
            burn(0.02)
            m.__exit__(None, None, None)
            os._exit(0 if 0.02 <= m.reading.cpu_seconds < 0.05 else 1)  # its own work only
        assert os.waitpid(pid, 0)[1] == 0
    assert m.reading.cpu_seconds >= 0.05


class Leaving(Reader):
    """A counter that can be read once."""

    name, rank, covers = "leaving", 1, frozenset({"cpu"})
    looks = 0

    def fault(self) -> None:
        return None

    def snapshot(self) -> int:
        self.looks += 1
        if self.looks > 1:
            raise OSError("gone")
        return 0

    def energy(self, before: object, after: object, usage: object) -> Energy:
        raise AssertionError("must not be called")


def test_a_counter_that_goes_away_does_not_end_the_work() -> None:
    with meter(readers=ReaderSet([Leaving(), VCpu()])) as m:
        burn(0.02)
    assert m.reading.tier == "estimated" and m.reading.detail["distrusted"] == ["leaving"]
    assert m.reading.joules == pytest.approx(0.02 * watts_per_vcpu()["max"], rel=0.1)


def test_no_source_at_all_is_unknown_and_not_zero() -> None:
    with meter(readers=ReaderSet([]), place="FRA") as m:
        burn(0.01)
    reading = m.reading
    assert (reading.tier, reading.joules, reading.joules_low, reading.co2e_grams) == ("unknown", None, None, None)
    assert "energy unknown" in str(reading) and reading.cpu_seconds >= 0.01


def test_a_gpu_without_a_reader_is_reported_as_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("niwaki.meter.account.GPU_FILE", __file__)  # as if this machine had one
    with meter(readers=ReaderSet([VCpu()])) as m:
        burn(0.01)
    assert m.reading.detail["not_counted"] == ["gpu"] and "not counted: gpu" in str(m.reading)


def test_python_of_the_tests_starts_quickly() -> None:
    """The children above are sized on this."""
    with meter() as m:
        subprocess.run([*PYTHON, ""], check=True)
    assert m.reading.cpu_seconds < 0.1
