"""The heartbeat: who is named, and when a process ends because another hangs or has failed."""

import pytest

from niwaki.run import heartbeat
from niwaki.run.heartbeat import FAILURE, Heartbeat, announce_failure, failure_code


class Store(dict):
    """A key-value store as torch.distributed has it, in this process."""

    def set(self, key, value):
        self[key] = value.encode()

    def get(self, key):
        return self[key]

    def check(self, keys):
        return all(key in self for key in keys)

    def compare_set(self, key, expected, value):
        if key not in self:
            self.set(key, value)
        return self[key]

    def set_timeout(self, limit):
        pass


class Ended(BaseException):
    pass


@pytest.fixture
def beats(monkeypatch):
    """A heartbeat without its thread, whose clock the test moves."""
    clock, ends = [100.0], []

    def end(code):
        ends.append(code)
        raise Ended

    monkeypatch.setattr(heartbeat.threading.Thread, "start", lambda self: None)
    monkeypatch.setattr(heartbeat.time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(heartbeat.os, "_exit", end)

    def build(store, own, world):
        found = Heartbeat(store, own, world)
        found.clock, found.ends = clock, ends
        return found

    return build


def test_a_process_that_stops_beating_is_named_and_then_ends_the_run(beats, capsys):
    store = Store()
    first = beats(store, 0, 3)
    for beat in range(60):
        first.clock[0] += 0.5
        store.set("beat/1", str(beat))
        store.set("beat/2", str(min(beat, 10)))
        if beat == 12:
            assert first.silent() == []
        if beat == 20:
            assert first.silent() == [2]
        try:
            first._look()
        except Ended:
            break
    assert first.ends == [1] and 10.0 < (beat - 10) * 0.5 - heartbeat.LOST_SECONDS + 10.0 < 12.0
    assert capsys.readouterr().err.startswith(
        "niwaki: process 2 of 3 has not answered for 20 s; what was saved is kept"
    )
    assert failure_code(store) == 1


def test_others_watch_the_first_process_alone(beats):
    store = Store()
    third = beats(store, 2, 3)
    for beat in range(60):
        third.clock[0] += 0.5
        store.set("beat/0", str(beat))
        store.set("beat/1", "1")
        third._look()
    assert third.silent() == [] and not third.ends


def test_a_failure_elsewhere_ends_a_process_with_the_same_code_and_without_a_line(beats, capsys, monkeypatch):
    store = Store()
    second = beats(store, 1, 2)
    monkeypatch.setattr(heartbeat, "GRACE_SECONDS", 0.0)
    monkeypatch.setattr(heartbeat, "BEAT_SECONDS", 0.0)
    assert announce_failure(store, 3) and not announce_failure(store, 1)
    with pytest.raises(Ended):
        second._run()
    assert second.ends == [3] and capsys.readouterr().err == "" and FAILURE in store


def test_a_store_that_is_gone_ends_the_process(beats, capsys, monkeypatch):
    class Gone(Store):
        def set(self, key, value):
            raise RuntimeError("Connection reset by peer")

        def compare_set(self, key, expected, value):
            raise RuntimeError("Connection reset by peer")

    second = beats(Gone(), 1, 2)
    monkeypatch.setattr(heartbeat, "BEAT_SECONDS", 0.0)
    with pytest.raises(Ended):
        second._run()
    assert "the first process, or the launcher, is out of reach" in capsys.readouterr().err


def test_a_store_that_does_not_answer_ends_the_process(beats, capsys, monkeypatch):
    second = beats(Store(), 1, 2)
    monkeypatch.setattr(second._closed, "wait", lambda seconds: second.clock.__setitem__(0, second.clock[0] + seconds))
    began = second.clock[0]
    with pytest.raises(Ended):
        second._guard()
    assert second.ends == [1] and 20.0 < second.clock[0] - began <= 21.0
    assert "is out of reach; what was saved is kept" in capsys.readouterr().err
