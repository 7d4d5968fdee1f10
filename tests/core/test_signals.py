"""The first Ctrl-C is remembered, the second stops at once, and the handlers go back to what they were."""

import os
import signal
import threading

import pytest

from niwaki.core.signals import stopping


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_first_is_remembered_second_stops(number):
    before = signal.getsignal(number)
    with stopping() as asked:
        assert not asked()
        os.kill(os.getpid(), number)
        assert asked()
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), number)
    assert signal.getsignal(number) is before


def test_handlers_go_back_after_an_exception():
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(ValueError), stopping():
        raise ValueError
    assert signal.getsignal(signal.SIGINT) is before


def test_other_threads_catch_nothing():
    said = []

    def work():
        with stopping() as asked:
            said.append((asked(), signal.getsignal(signal.SIGINT)))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert said == [(False, signal.getsignal(signal.SIGINT))]
