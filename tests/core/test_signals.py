"""The first Ctrl-C asks the program to stop, the second stops it at once; then the old handlers are restored.

The work sleeps far longer than any test waits: code that ignores a signal fails a test by its timeout.
"""

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from niwaki.core import signals
from niwaki.core.signals import saving, stopping


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_first_signal_requests_a_stop_and_second_interrupts(number):
    before = signal.getsignal(number)
    with stopping() as requested:
        assert not requested()
        os.kill(os.getpid(), number)
        assert requested()
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), number)
    assert signal.getsignal(number) is before


def test_handlers_are_restored_after_an_exception():
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(ValueError), stopping():
        raise ValueError
    assert signal.getsignal(signal.SIGINT) is before


def test_other_threads_catch_nothing():
    output = []

    def work():
        with stopping() as requested:
            output.append((requested(), signal.getsignal(signal.SIGINT)))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert output == [(False, signal.getsignal(signal.SIGINT))]


def test_work_that_never_checks_is_interrupted_after_the_grace_period(monkeypatch):
    monkeypatch.setattr(signals, "GRACE_SECONDS", 0.2)
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt), stopping():
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(60)  # returns normally if nothing interrupts it
    assert time.monotonic() - began > 0.1
    time.sleep(0.3)  # a second interrupt would fail the test here


def test_a_save_is_finished_before_it_is_interrupted(monkeypatch):
    monkeypatch.setattr(signals, "GRACE_SECONDS", 0.05)
    saved = False
    with pytest.raises(KeyboardInterrupt), stopping():
        os.kill(os.getpid(), signal.SIGTERM)
        with saving():
            time.sleep(0.3)
            saved = True
        time.sleep(60)
    assert saved


PROGRAM = """
import hashlib, os, signal, sys, time
from niwaki.core import signals
signals.GRACE_SECONDS, signals.HARD_SECONDS = 0.5, 1.2
def begun():
    print("begun", flush=True)
def run(words):
{work}
    return 0
sys.modules["niwaki.cli._app"] = type(sys)("app")
sys.modules["niwaki.cli._app"].run = run
from niwaki.cli import main
main()
"""
PLAIN = """
    begun()
    time.sleep(600)"""
POLITE = """
    with signals.stopping():
        begun()
        time.sleep(600)"""
STUBBORN = """
    while True:
        try:
            with signals.stopping():
                begun()
                time.sleep(600)
        except KeyboardInterrupt:
            pass"""
IN_A_LIBRARY = """
    with signals.stopping():
        begun()
        hashlib.pbkdf2_hmac('sha256', b'a', b'b', 2 * 10**9)"""
CLEANING_UP = """
    try:
        with signals.stopping():
            begun()
            time.sleep(600)
    finally:
        time.sleep(600)"""


@pytest.mark.parametrize(
    "work",
    [PLAIN, POLITE, STUBBORN, IN_A_LIBRARY, CLEANING_UP],
    ids=["plain", "polite", "stubborn", "library", "cleaning"],
)
@pytest.mark.parametrize("times", [1, 2, 5])
def test_the_program_ends_without_a_traceback_however_often_it_is_interrupted(work, times):
    child = subprocess.Popen(
        [sys.executable, "-c", PROGRAM.format(work=work)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert child.stdout.readline() == "begun\n"
    for _ in range(times):
        child.send_signal(signal.SIGINT)
        time.sleep(0.05)
    output = ended(child)
    assert child.returncode == 130 and "Traceback" not in output and "niwaki: " in output, output


def ended(child: subprocess.Popen) -> str:
    """The stderr of a process that must end by itself."""
    try:
        return child.communicate(timeout=120)[1]
    finally:
        child.kill()


def test_interrupted_while_it_starts_there_is_no_traceback():
    """Ctrl-C during the imports, after niwaki has installed its signal handlers."""
    code = "from niwaki.core import signals; signals.own_process(); import os; os.write(1, b'on'); import sys; sys.argv[1:] = ['list']; from niwaki.cli import main; main()"
    for delay in (0.02, 0.06, 0.1):
        child = subprocess.Popen(
            [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        child.stdout.read(2)
        time.sleep(delay)
        child.send_signal(signal.SIGINT)
        output = ended(child)
        assert child.returncode in (0, 130) and "Traceback" not in output, output
