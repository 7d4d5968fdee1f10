"""Standard input is waited for, and can be given up while no line comes."""

import os
import threading

from niwaki.engines.stdin import InterruptibleStdin


def test_it_gives_what_comes_and_ends_where_it_is_over():
    reading, writing = os.pipe()
    over = threading.Event()
    os.write(writing, b"a film\nthe ")
    waiting = InterruptibleStdin(reading, over.is_set)
    assert waiting.read(4) == b"a fi" and waiting.read(100) == b"lm\nthe "
    threading.Timer(0.3, over.set).start()
    assert waiting.read(100) == b""  # nothing came, and nobody closed it
    os.close(writing), os.close(reading)


def test_it_ends_where_the_writer_left():
    reading, writing = os.pipe()
    os.close(writing)
    assert InterruptibleStdin(reading, lambda: False).read(100) == b""
    os.close(reading)
