"""Live descendants: kept between looks while nobody can have joined, and never at the price of missing one."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

from niwaki.meter import counters, descendants, meter

from .work import BURN, PYTHON, TICKS, KernelClock, child, waiting_child

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="live children are seen on Linux only")
WAIT = "print('ready', flush=True)\ninput()\n"


@pytest.fixture(autouse=True)
def nothing_cached() -> None:
    descendants._tree = None


@pytest.fixture
def earlier() -> set[int]:
    """Processes that other tests started here and that still live, such as worker pools."""
    return {member.pid for member in descendants._listed(os.getpid())}


def new_members(tree: descendants.Tree, earlier: set[int]) -> list[descendants.Member]:
    return [member for member in tree.members if member.pid not in earlier]


def look_until_cached() -> descendants.Tree:
    """Others on this machine start processes too, so that it takes a few looks until a list may be kept."""
    for _ in range(1000):
        counters.cpu_seconds()
        tree, number = descendants._tree, descendants._last_number()
        if tree is not None and number is not None and tree.is_current(os.getpid(), number, time.perf_counter()):
            return tree
        time.sleep(0.005)
    raise AssertionError("no list was kept in 5 s")


def listed_anew() -> float:
    return sum(descendants._seconds(member) for member in descendants._listed(os.getpid()))


def read_line(process: "subprocess.Popen[str]") -> str:
    assert process.stdout is not None
    return process.stdout.readline()


def send_line(process: "subprocess.Popen[str]") -> None:
    assert process.stdin is not None
    process.stdin.write("go\n")
    process.stdin.flush()


def test_a_cached_list_equals_a_new_one(earlier: set[int]) -> None:
    with waiting_child("burn(0.1)"), waiting_child("burn(0.2)"):
        tree = look_until_cached()
        assert len(new_members(tree, earlier)) == 2
        assert tree.seconds() == pytest.approx(listed_anew(), abs=0.001) and listed_anew() >= 0.3


def test_a_list_is_cached_only_for_a_second_after_the_last_pid_is_stable() -> None:
    tree = descendants.Tree(1, 7, stable_seconds=0.02, listed_at=100.0, members=())
    assert tree.is_current(1, 7, 100.5)
    assert not tree.is_current(2, 7, 100.5)  # another process: after fork()
    assert not tree.is_current(1, 8, 100.5)  # something was started
    assert not tree.is_current(1, 7, 101.5)  # numbers may have come round
    assert not descendants.Tree(1, 7, 0.001, 100.0, ()).is_current(1, 7, 100.5)  # one may have been on its way


def test_a_child_started_after_the_listing_is_seen_at_once() -> None:
    with waiting_child(""):
        look_until_cached()
        with KernelClock() as clock, meter() as m, waiting_child("burn(0.2)"):
            so_far = m.peek()
    assert 0.2 - TICKS <= so_far.cpu_seconds <= clock.seconds + TICKS


@pytest.mark.parametrize("reaped", [False, True], ids=["alive", "reaped by its parent"])
def test_a_grandchild_that_a_cached_child_starts_is_counted(reaped: bool) -> None:
    inner = BURN + "burn(0.3)" + ("" if reaped else f"\n{WAIT}")
    then = WAIT if reaped else ""
    code = f"import subprocess, sys\n{WAIT}subprocess.run([sys.executable, '-I', '-S', '-c', {inner!r}])\n{then}"
    with KernelClock() as clock:
        process = child(code)
        assert read_line(process) == "ready\n"
        look_until_cached()
        with meter() as m:
            send_line(process)
            assert read_line(process) == "ready\n"
        process.communicate("go\n")
    assert 0.3 - TICKS <= m.reading.cpu_seconds <= clock.seconds + TICKS


def test_a_grandchild_reaped_from_a_cached_list_stays_counted(earlier: set[int]) -> None:
    inner = BURN + f"burn(0.3)\n{WAIT}"
    with KernelClock() as clock:
        process = child(
            f"import subprocess, sys\nsubprocess.run([sys.executable, '-I', '-S', '-c', {inner!r}])\n{WAIT}"
        )
        assert read_line(process) == "ready\n"
        tree = look_until_cached()
        assert [member.has_children for member in new_members(tree, earlier)] == [True, False]
        with meter() as m:
            send_line(process)  # the grandchild ends; its parent reaps it and lives on
            assert read_line(process) == "ready\n"
        process.communicate("go\n")
    # its 0.3 s were before the window: neither charged nor taken off
    assert 0 <= m.reading.cpu_seconds <= clock.seconds - 0.3 + TICKS


def test_a_child_that_is_reaped_moves_to_the_reaped_ones() -> None:
    with waiting_child(""), KernelClock() as clock, meter() as m:
        process = child(f"burn(0.2)\n{WAIT}")
        assert read_line(process) == "ready\n"
        look_until_cached()
        alive = m.peek().cpu_seconds
        process.stdin.close()  # ends, and stays a corpse until it is reaped
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        corpse = m.peek().cpu_seconds
        process.wait()
        gone = m.peek().cpu_seconds
        process.stdout.close()
    assert 0.2 - TICKS <= alive <= corpse <= gone + 1e-4 <= clock.seconds + TICKS


def test_a_child_that_dies_gives_its_children_away(earlier: set[int]) -> None:
    """As a new listing has it: the kernel hands them to init, where nobody can tell whose they were."""
    code = f"import subprocess, sys\nsubprocess.Popen([sys.executable, '-I', '-S', '-c', 'input()'])\n{WAIT}"
    process = child(code)
    assert read_line(process) == "ready\n"
    tree = look_until_cached()
    assert len(new_members(tree, earlier)) == 2
    process.kill()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert tree.seconds() is None
    process.communicate()


def test_a_kernel_without_the_last_number_has_every_look_list_anew(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(descendants, "LAST_NUMBER", str(tmp_path / "none"))
    with waiting_child(""), KernelClock() as clock, meter() as m, waiting_child("burn(0.2)"):
        so_far = m.peek()
    assert 0.2 - TICKS <= so_far.cpu_seconds <= clock.seconds + TICKS
    assert descendants._tree is None


def least(function: Callable[[], object], calls: int) -> float:
    """CPU seconds per call, the best of many batches: others disturb, and their starts make lists be made anew."""
    best = float("inf")
    for _ in range(60):
        start = time.thread_time()
        for _ in range(calls):
            function()
        best = min(best, (time.thread_time() - start) / calls)
    return best


def window() -> None:
    with meter():
        pass


@pytest.mark.parametrize("children", [1, 8])
def test_a_window_with_live_children_costs_a_few_looks_into_proc(children: int) -> None:
    """In readings of one file of /proc (some 9 µs), so that a slow machine does not fail. Measured: 3.4 with one child
    and 4.6 with eight; when every look lists them anew, 12 and 45."""
    reading = least(lambda: descendants._stat(os.getpid()), 100)
    with ExitStack() as alive:
        for _ in range(children):
            alive.enter_context(waiting_child(""))
        assert least(window, 100) < (8 if children == 1 else 20) * reading


def test_the_children_of_all_threads_are_found() -> None:
    inner = f"{sys.executable!r}, '-I', '-S', '-c', 'input()'"
    code = (
        "import subprocess, threading\n"
        f"def start():\n    subprocess.Popen([{inner}]); threading.Event().wait()\n"
        "threading.Thread(target=start, daemon=True).start()\n"
        "time.sleep(0.2)\n"
    )
    with waiting_child(code) as process:
        assert len(descendants._listed(os.getpid())) >= 2
        assert len(descendants.children_of(process.pid)) == 1
        subprocess.run(["kill", str(descendants.children_of(process.pid)[0])], check=True)


def test_python_of_these_tests_is_one_process(earlier: set[int]) -> None:
    """The counts above rely on it."""
    with subprocess.Popen([*PYTHON, "input()"], stdin=subprocess.PIPE) as process:
        assert {member.pid for member in descendants._listed(os.getpid())} - earlier == {process.pid}
        process.communicate(b"\n")
