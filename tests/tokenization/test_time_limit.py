"""Work in a thread whose processor time is limited."""

import os
import subprocess
import sys
import threading
import time

import pytest

from niwaki.tokenization.time_limit import TimeLimitExceeded, run_within_limit, without_panics

ABANDONED = """
import sys
sys.modules["niwaki.cli._app"] = type(sys)("app")
sys.modules["niwaki.cli._app"].run = lambda words: wait()
def spin():
    while True:
        pass
def wait():
    from niwaki.tokenization.time_limit import TimeLimitExceeded, run_within_limit
    try:
        run_within_limit([1], lambda item: spin(), lambda item: 0.05)
    except TimeLimitExceeded:
        sys.stderr.write("one line")
        return 3
from niwaki.cli import main
main()
"""


def busy(seconds):
    began = time.thread_time()
    while time.thread_time() - began < seconds:
        pass
    return seconds


def test_results_come_in_order_and_errors_are_raised_here():
    assert run_within_limit([3, 1, 2], lambda item: item * 2, lambda item: 1) == [6, 2, 4]
    assert run_within_limit([], busy, lambda item: 1) == []
    with pytest.raises(ZeroDivisionError):
        run_within_limit([1, 0], lambda item: 1 // item, lambda item: 1)


def test_an_item_that_takes_too_long_is_named_and_later_ones_are_not_begun():
    done = []
    with pytest.raises(TimeLimitExceeded) as caught:
        run_within_limit([0.0, 0.5, 0.0], lambda item: done.append(busy(item)), lambda item: 0.1)
    assert caught.value.number == 1
    while any(thread.name == "niwaki-timed" for thread in threading.enumerate()):
        time.sleep(0.01)
    assert len(done) == 2


def test_waiting_is_not_counted():
    assert run_within_limit([0.3], lambda item: time.sleep(item), lambda item: 0.1) == [None]


def test_stderr_is_held_back_and_dropped_only_where_the_work_failed(capfd):
    with without_panics():
        os.write(2, b"kept")
    with pytest.raises(TimeLimitExceeded), without_panics():
        os.write(2, b"dropped")
        raise TimeLimitExceeded(0)
    os.write(2, b" after")
    assert capfd.readouterr().err == "kept after"


def test_threads_that_hold_stderr_back_at_once_give_it_back(capfd):
    def hold():
        for _ in range(50):
            with without_panics():
                pass

    threads = [threading.Thread(target=hold) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    os.write(2, b"here")
    assert capfd.readouterr().err == "here"


def test_a_process_with_an_abandoned_thread_ends_at_once_with_its_code():
    done = subprocess.run([sys.executable, "-c", ABANDONED], capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stderr) == (3, "one line")
