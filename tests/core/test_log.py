"""stderr only, lines now and then where there is no terminal, nothing when quiet."""

import pytest

from niwaki.core import log


@pytest.fixture
def loud():
    log.quiet(False)
    yield
    log.quiet()


def test_lines_say_what_is_left(loud, capsys, monkeypatch):
    clock = iter([0.0, 1.0, 11.0, 12.0, 30.0])
    monkeypatch.setattr(log.time, "monotonic", lambda: next(clock))
    with log.progress("work", 100, 10) as update:
        update(20, "a")  # at 1 s: too early for a line
        update(30, "b")  # at 11 s
        update(31, "c")
        update(40, "d")  # at 30 s
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines() == ["work: 30/100, about 38 s left  b", "work: 40/100, about 60 s left  d"]


def test_quiet(capsys):
    log.info("x")
    with log.progress("work", 2) as update:
        update(1, "")
    assert capsys.readouterr() == ("", "")
