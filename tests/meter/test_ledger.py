"""The ledger: everything is charged once, also what a killed process spent."""

import csv
import io
import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from meter.work import BURN, burn
from niwaki.core.errors import UsageError
from niwaki.core.files import append_line, read_lines
from niwaki.meter import Reading, meter
from niwaki.meter.ledger import Ledger, total_of
from niwaki.meter.reading import with_parallel

JOULE = Reading(1.0, 0.5, 1.0, 0.5, 2.0, 0.7, "estimated", "vcpu", 0.1, 0.01)


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    (tmp_path / "demo").mkdir()
    return Ledger(tmp_path / "demo" / "ledger.jsonl")


def test_charges_are_summed_by_stage_what_month_and_run(ledger: Ledger) -> None:
    ledger.charge(stage="teacher", key="k1", what="train", reading=JOULE)
    ledger.charge(stage="teacher", key="k1", what="evaluate", reading=JOULE)
    ledger.charge(stage="student", key="k2", what="train", status="failed", reading=JOULE, error="OutOfMemory")
    by_stage = ledger.total(by="stage")
    assert by_stage["teacher"].reading.joules == 2.0 and by_stage["student"].reading.joules == 1.0
    assert ledger.total(by="what")["train"].charges == 2
    assert ledger.total()["all"].reading.joules == 3.0  # failed work is charged
    assert ledger.total()["all"].statuses == {"done": 2, "failed": 1}
    assert ledger.total(by="status")["failed"].reading.joules == 1.0
    assert list(ledger.total(by="month")) == [time.strftime("%Y-%m", time.gmtime())]
    assert list(ledger.total(by="run")) == ["demo"]
    assert ledger.lines()[2]["error"] == "OutOfMemory"
    assert json.dumps(ledger.total()["all"].to_dict())


def test_an_attempt_charges_what_other_processes_spent_on_it(ledger: Ledger) -> None:
    with ledger.begin(stage="teacher", what="train") as attempt:
        attempt.with_others = lambda own: with_parallel(own, JOULE, same_machine=True)
        attempt.beat(now=True)
    (charge,) = ledger.lines()
    beat = next(line for line in read_lines(ledger.path) if line["event"] == "beat")
    for line in (charge, beat):
        assert line["reading"]["cpu_seconds"] >= 0.5 and line["reading"]["seconds"] < 0.5


def test_several_ledgers_are_summed_together(tmp_path: Path) -> None:
    for run in ("a", "b"):
        (tmp_path / run).mkdir()
        Ledger(tmp_path / run / "ledger.jsonl").charge(stage="s", what="train", reading=JOULE)
    lines = [line for run in ("a", "b") for line in Ledger(tmp_path / run / "ledger.jsonl").lines()]
    assert {run: total.reading.joules for run, total in total_of(lines, by="run").items()} == {"a": 1.0, "b": 1.0}


def test_unknown_joules_are_counted_as_unknown_and_not_as_zero(ledger: Ledger) -> None:
    ledger.charge(stage="s", what="train", reading=JOULE)
    ledger.charge(stage="s", what="train", reading=Reading(2.0, 1.0))
    total = ledger.total()["all"]
    assert (total.charges, total.unknown, total.reading.joules, total.reading.seconds) == (2, 1, 1.0, 3.0)
    assert total.reading.detail["unknown_charges"] == 1


def test_an_empty_ledger_and_wrong_words(ledger: Ledger) -> None:
    assert ledger.total()["all"].charges == 0 and ledger.total(by="stage") == {} and not ledger.path.exists()
    with pytest.raises(UsageError, match="did you mean 'stage'"):
        ledger.total(by="stag")
    with pytest.raises(UsageError, match="did you mean 'done'"):
        ledger.charge(stage="s", what="train", status="don", reading=JOULE)


def test_csv_leaves_the_unknown_empty(ledger: Ledger) -> None:
    ledger.charge(stage='a "b", c', key="k", what="train", reading=Reading(2.0, 1.0))
    (row,) = csv.DictReader(io.StringIO(ledger.csv()))
    assert row["stage"] == 'a "b", c' and row["joules"] == "" and row["seconds"] == "2.0" and row["run"] == "demo"


def test_an_attempt_that_ends_well_fails_or_is_interrupted(ledger: Ledger) -> None:
    with ledger.begin(stage="s", key="k", what="train", window=meter(place="FRA")):
        burn(0.02)
    with pytest.raises(ValueError), ledger.begin(stage="s", what="train"):
        raise ValueError
    with pytest.raises(KeyboardInterrupt), ledger.begin(stage="s", what="train"):
        raise KeyboardInterrupt
    lines = ledger.lines()
    assert [line["status"] for line in lines] == ["done", "failed", "interrupted"]
    assert lines[0]["reading"]["cpu_seconds"] >= 0.02 and lines[0]["reading"]["co2e_grams"] > 0
    assert lines[1]["error"] == "ValueError" and lines[0]["key"] == "k"


def test_an_attempt_is_charged_once_whatever_is_called(ledger: Ledger) -> None:
    attempt = ledger.begin(stage="s", what="search")
    attempt.beat(now=True)
    first = attempt.end()
    assert attempt.end("failed") == first
    assert [line["status"] for line in ledger.lines()] == ["done"]


def test_beats_are_written_now_and_then_only(ledger: Ledger) -> None:
    with ledger.begin(stage="s", what="train") as attempt:
        for _ in range(1000):
            attempt.beat()
    assert [line["event"] for line in read_lines(ledger.path)] == ["begin", "charge"]


WORK = """
import sys
from niwaki.meter.ledger import Ledger
attempt = Ledger(sys.argv[1]).begin(stage="student", key="k", what="train", note="n")
burn(0.2)
if sys.argv[2] == "beat": attempt.beat(now=True)
print("ready", flush=True)
input()
"""


def started(ledger: Ledger, beat: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", BURN + WORK, str(ledger.path), beat]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline() == "ready\n"
    return process


def kill(process: "subprocess.Popen[str]") -> None:
    process.send_signal(signal.SIGKILL)
    process.communicate()


def test_a_killed_process_is_charged_with_its_last_beat_and_a_live_one_is_not(ledger: Ledger) -> None:
    process = started(ledger, "beat")
    assert ledger.lines() == [] and ledger.recover() == []  # it lives: it will charge itself
    kill(process)
    (line,) = ledger.lines()  # without writing: a read-only ledger tells it too
    assert (line["status"], line["stage"], line["what"], line["note"]) == ("killed", "student", "train", "n")
    assert line["reading"]["cpu_seconds"] >= 0.2 and line["reading"]["joules"] > 0
    before = ledger.total()["all"]
    assert len(ledger.recover()) == 1 and ledger.recover() == []
    assert ledger.total()["all"] == before and len(ledger.lines()) == 1


def test_a_process_killed_before_any_beat_is_charged_as_unknown(ledger: Ledger) -> None:
    kill(started(ledger, "no"))
    total = ledger.total()["all"]
    assert (total.charges, total.unknown, total.statuses) == (1, 1, {"killed": 1})
    assert total.reading.joules is None  # not 0


def test_the_next_attempt_recovers_and_two_recoveries_count_once(ledger: Ledger) -> None:
    kill(started(ledger, "beat"))
    (line,) = ledger.lines()
    with ledger.begin(stage="student", key="k", what="train"):
        pass
    append_line(ledger.path, {key: value for key, value in line.items() if key != "run"})  # another process did as well
    assert [line["status"] for line in ledger.lines()] == ["killed", "done"]
    assert ledger.total()["all"].charges == 2


def test_a_line_torn_by_a_crash_hides_nothing_else(ledger: Ledger) -> None:
    ledger.charge(stage="s", what="train", reading=JOULE)
    with ledger.path.open("a") as file:
        file.write('{"event": "charge", "id": "x", "stage"')
    ledger.charge(stage="s", what="train", reading=JOULE)
    assert ledger.total()["all"].charges == 2


def test_lines_of_other_kinds_are_passed_over(ledger: Ledger) -> None:
    ledger.charge(stage="s", what="train", reading=JOULE)
    for stray in (7, None, [], {}, {"event": "begin", "id": "x"}, {"event": "charge", "id": "y"}, {"event": "other"}):
        append_line(ledger.path, stray)
    assert ledger.total()["all"].charges == 1 and ledger.recover() == []
