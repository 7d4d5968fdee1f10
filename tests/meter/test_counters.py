"""CPU seconds of a process and its children."""

import time

from meter.work import BURN, TICKS, KernelClock, burn, child, waiting_child
from niwaki.meter import meter


def test_ten_short_children_are_fully_counted() -> None:
    messages = 0.0
    with KernelClock() as clock, meter() as m:
        for _ in range(10):
            # each says itself what it used, up to its last statement
            out, _ = child("burn(0.2); print(time.process_time())").communicate()
            messages += float(out)
    assert messages >= 2.0
    assert messages <= m.reading.cpu_seconds <= clock.seconds  # starting and ending them is work too


def test_earlier_work_of_a_live_child_is_not_counted() -> None:
    with waiting_child("burn(0.3)"), KernelClock() as clock:
        with meter() as after_its_work:
            time.sleep(0.01)
        with meter() as own:
            burn(0.1)
    assert own.reading.cpu_seconds >= 0.1
    assert after_its_work.reading.cpu_seconds + own.reading.cpu_seconds <= clock.seconds + TICKS


def test_child_alive_at_the_end_is_counted() -> None:
    with KernelClock() as clock:
        with meter() as m:
            holder = waiting_child("burn(0.3)")
            holder.__enter__()
        holder.__exit__(None, None, None)
    assert 0.3 - TICKS <= m.reading.cpu_seconds <= clock.seconds + TICKS


def test_only_work_inside_the_window_is_counted() -> None:
    with KernelClock() as clock:
        process = child("burn(0.3); print('ready', flush=True); input(); burn(0.2)")
        assert process.stdout is not None
        process.stdout.readline()
        with meter() as m:
            process.communicate("go\n")  # ends and is reaped inside the window
    assert 0.2 - TICKS <= m.reading.cpu_seconds <= clock.seconds - 0.3 + TICKS


def test_live_grandchild_is_counted() -> None:
    inner = BURN + "burn(0.3)\nprint('ready', flush=True)\ninput()"
    code = f"import subprocess, sys\nsubprocess.run([sys.executable, '-I', '-S', '-c', {inner!r}])"
    with KernelClock() as clock:
        process = child(code)
        with meter() as m:
            assert process.stdout is not None and process.stdout.readline() == "ready\n"
        process.communicate("go\n")
    assert 0.3 - TICKS <= m.reading.cpu_seconds <= clock.seconds + TICKS
