"""Process groups of a run: who reports a failure, and what other processes spent."""

import json
import platform
from types import SimpleNamespace

import pytest
from torch.distributed import HashStore

from niwaki.core.errors import InputError, NiwakiError
from niwaki.meter.reading import Reading
from niwaki.run import heartbeat, processes
from niwaki.run.processes import ProcessGroup
from niwaki.train import distributed
from niwaki.train.distributed import ProcessLost
from run.test_heartbeat import Store


@pytest.fixture
def group():
    """One process of three, without connections."""

    def build(store, own=0):
        found = object.__new__(ProcessGroup)
        found.store, found.own, found.world, found.messages, found.attempt = store, own, 3, 0, "a"
        found.spent, found.heartbeat = Reading.zero(), SimpleNamespace(silent=lambda: [2])
        return found

    return build


def test_only_the_process_that_fails_first_reports_why(group):
    store = Store()
    second, third, first = (group(store, own) for own in (1, 2, 0))
    message = second.failed(InputError("rows.csv: is not there"))
    assert isinstance(message, InputError) and str(message) == "process 1 of 3: rows.csv: is not there"
    for other in (third, first):
        silent = other.failed(NiwakiError("the loss is nan"))
        assert isinstance(silent, SystemExit) and silent.code == 3


def test_a_killed_process_is_named(group):
    message = group(Store(), 1).failed(ProcessLost("gone"))
    assert str(message).startswith("process 2 of 3 ended; what was saved is kept") and message.exit_code == 1


def test_an_interruption_keeps_its_exit_code(group):
    store = Store()
    assert isinstance(group(store).failed(KeyboardInterrupt()), KeyboardInterrupt)
    assert group(store, 1).failed(KeyboardInterrupt()).code == 130


def test_other_processes_add_energy_and_processor_time_but_no_seconds(group):
    store = Store()
    first = group(store)
    own = Reading(10.0, 8.0, 100.0, 50.0, 200.0, 60.0, "estimated", "vcpu", None, 1.0, {"idle_joules": 5.0})
    for process, node, attempt in ((1, platform.node(), "a"), (2, "other", "a")):
        store.set(f"spent/{process}", json.dumps({"attempt": attempt, "node": node, "reading": own.to_dict()}))
    found = first.with_others(own)
    assert (found.seconds, found.cpu_seconds, found.joules) == (10.0, 24.0, 300.0)
    assert found.usd == 2.0 and found.detail["idle_joules"] == 10.0, "a machine is paid for once"
    first.attempt = "b"
    assert first.with_others(own) is own, "readings of another attempt do not count"


def test_no_group_outside_of_a_run():
    assert processes.current() is None


def test_a_second_run_of_a_script_has_messages_of_its_own(monkeypatch):
    shared = HashStore()
    monkeypatch.setattr(distributed, "join", lambda: shared)
    monkeypatch.setattr(heartbeat, "Heartbeat", lambda store, own, world: None)
    first = ProcessGroup()
    first.announce({"do": "end"})
    second = ProcessGroup()
    assert first.store.check(["message/1"]) and not second.store.check(["message/1"])
