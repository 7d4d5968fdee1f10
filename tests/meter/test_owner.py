"""Whether the process that began an attempt is still alive."""

import time

import pytest

from niwaki.meter import owner as owners


def test_reused_process_id_counts_as_dead(monkeypatch: pytest.MonkeyPatch) -> None:
    messages = owners.owner()
    now = "2026-11-15T12:00:00.000+00:00"
    assert not owners.is_gone(messages, now)
    assert owners.is_gone({**messages, "born": messages["born"] - 1}, now)
    assert owners.is_gone({**messages, "boot": "an earlier one"}, now)


def test_process_of_another_machine_counts_as_alive_for_a_day(monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = {**owners.owner(), "node": "elsewhere", "boot": "theirs"}
    stamp = time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime())
    assert not owners.is_gone(elsewhere, stamp)
    assert owners.is_gone(elsewhere, "2020-01-01T00:00:00+00:00")
