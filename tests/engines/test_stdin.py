"""Standard input is awaited, and can be interrupted."""

import os
import threading

from niwaki.engines.stdin import InterruptibleStdin


def test_reads_available_bytes_and_ends_when_stopped():
    reading, writing = os.pipe()
    over = threading.Event()
    os.write(writing, b"a film\nthe ")
    waiting = InterruptibleStdin(reading, over.is_set)
    assert waiting.read(4) == b"a fi" and waiting.read(100) == b"lm\nthe "
    threading.Timer(0.3, over.set).start()
    assert waiting.read(100) == b""  # nothing came, and nobody closed it
    os.close(writing), os.close(reading)


def test_ends_at_end_of_file():
    reading, writing = os.pipe()
    os.close(writing)
    assert InterruptibleStdin(reading, lambda: False).read(100) == b""
    os.close(reading)
