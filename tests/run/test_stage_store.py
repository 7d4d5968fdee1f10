"""Finished stages are shared by the runs of one folder."""

import hashlib
import json
import multiprocessing
import os
import shutil
import time
from pathlib import Path

import pytest

from niwaki.core.documents import write_document
from niwaki.core.files import commit_folder, write_json
from niwaki.core.run_folder import fault_in_stage, open_run
from niwaki.evaluate import quality
from niwaki.meter.ledger import Ledger
from niwaki.run import stage_store
from niwaki.run.plan import make_plan
from niwaki.run.recipe import parse
from niwaki.run.runner import run_stage
from niwaki.run.stage_store import StageStore
from niwaki.train.loop import Interrupted

KEY = hashlib.sha256(b"a stage").hexdigest()


@pytest.fixture(autouse=True)
def _quick(monkeypatch, quick_disk):
    monkeypatch.setattr(quality, "RESAMPLES", 10)


def write_stage(folder: Path, name: str = "student", key: str = KEY) -> Path:
    with commit_folder(folder) as target:
        (target / "model").mkdir()
        (target / "model" / "model.safetensors").write_bytes(b"weights" * 1000)
        (target / "model" / "config.json").write_text("{}")
        write_json(target / "result.json", {"stage": name, "key": key})
    return folder


@pytest.fixture
def store(tmp_path):
    return StageStore(tmp_path / ".stages")


def weights(stage: Path) -> Path:
    return stage / "model" / "model.safetensors"


def test_a_stage_is_linked_and_gets_the_name_that_it_has_in_the_run(tmp_path, store):
    first = write_stage(tmp_path / "one" / "stages" / "student-1")
    store.add(KEY, first)
    second = tmp_path / "two" / "stages" / "pupil-1"
    assert KEY in store and store.take(KEY, "pupil", second)
    assert fault_in_stage(second, KEY) is None and fault_in_stage(first, KEY) is None
    assert json.loads((second / "result.json").read_text())["stage"] == "pupil"
    assert weights(first).samefile(weights(second))
    assert not (first / "model" / "config.json").samefile(second / "model" / "config.json")


def test_a_deleted_run_leaves_other_runs_intact(tmp_path, store):
    first = write_stage(tmp_path / "one" / "stages" / "student-1")
    store.add(KEY, first)
    second = tmp_path / "two" / "stages" / "student-1"
    store.take(KEY, "student", second)
    shutil.rmtree(tmp_path / "one")
    assert fault_in_stage(second, KEY) is None
    store.prune()
    assert KEY in store, "a run still links to it"


def test_entries_that_no_run_links_to_are_removed(tmp_path, store):
    store.add(KEY, write_stage(tmp_path / "one" / "stages" / "student-1"))
    other = tmp_path / ".stages" / "notes"
    other.mkdir()
    shutil.rmtree(tmp_path / "one")
    store.prune()
    assert KEY not in store and other.exists(), "only stages are removed"


def test_a_damaged_entry_is_removed_and_not_used(tmp_path, store):
    store.add(KEY, write_stage(tmp_path / "one" / "stages" / "student-1"))
    weights(tmp_path / ".stages" / KEY).write_bytes(b"other")
    assert not store.take(KEY, "student", tmp_path / "two" / "student-1")
    assert KEY not in store and not (tmp_path / "two").exists()


def test_an_entry_of_another_stage_is_not_used(tmp_path, store):
    write_stage(tmp_path / ".stages" / KEY, key="f" * 64)
    assert not store.take(KEY, "student", tmp_path / "two" / "student-1")


def test_leftovers_of_a_kill_are_removed_unless_their_key_is_reserved(tmp_path, store):
    half = tmp_path / ".stages" / f".{KEY}.tmp-12345678"
    half.mkdir()
    with store.reserved(KEY, "student", lambda: False):
        StageStore(tmp_path / ".stages").prune()
        assert half.exists(), "its writer may still be at work"
    store.prune()
    assert not half.exists()


def test_a_failure_while_adding_leaves_no_entry(tmp_path, store, monkeypatch):
    def fail(source, target):
        (target / "model").mkdir()
        raise OSError(1, "hard links are not supported")

    monkeypatch.setattr(stage_store, "link_files", fail)
    store.add(KEY, write_stage(tmp_path / "one" / "stages" / "student-1"))
    assert KEY not in store and [*(tmp_path / ".stages").iterdir()] == []


def test_without_a_store_nothing_is_shared(tmp_path):
    store = StageStore(None)
    store.add(KEY, write_stage(tmp_path / "student-1"))
    store.offer(KEY, tmp_path / "student-1")
    store.prune()
    with store.reserved(KEY, "student", lambda: False):
        assert KEY not in store and not store.take(KEY, "student", tmp_path / "two")


def test_a_store_that_cannot_be_created_is_not_used(tmp_path):
    (tmp_path / "file").write_text("")
    assert StageStore(tmp_path / "file" / ".stages").folder is None


def test_a_request_to_stop_ends_the_wait(store):
    first, second = (store.reserved(KEY, "student", lambda stop=stop: stop) for stop in (False, True))
    with first, pytest.raises(Interrupted), second:
        raise AssertionError("two runs hold the same key")


def hold_and_die(folder: str, started, waited_for) -> None:
    with StageStore(Path(folder)).reserved(KEY, "student", lambda: False):
        started.set()
        waited_for.wait()
        os.kill(os.getpid(), 9)


def test_a_killed_run_releases_its_lock(store):
    context = multiprocessing.get_context("fork")
    started, waited_for = context.Event(), context.Event()
    process = context.Process(target=hold_and_die, args=(str(store.folder), started, waited_for), daemon=True)
    process.start()
    started.wait()
    with store.reserved(KEY, "student", lambda: bool(waited_for.set())):  # called while this process waits
        assert waited_for.is_set(), "the other process did not hold the lock"
    process.join()


def make(folder: str, log: str) -> None:
    """Makes the stage unless the store has it, as runs do, and writes a line if it did."""
    store = StageStore(Path(folder).parent / ".stages")
    with store.reserved(KEY, "student", lambda: False):
        target = Path(folder) / "stages" / "student-1"
        if not store.take(KEY, "student", target):
            with Path(log).open("a") as file:
                file.write("made\n")
            time.sleep(0.1)
            store.add(KEY, write_stage(target))


def test_runs_that_start_together_make_a_stage_once(tmp_path):
    context = multiprocessing.get_context("fork")
    runs = [tmp_path / str(number) for number in range(4)]
    processes = [context.Process(target=make, args=(str(run), str(tmp_path / "log"))) for run in runs]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert (tmp_path / "log").read_text() == "made\n"
    assert [fault_in_stage(run / "stages" / "student-1", KEY) for run in runs] == [None] * 4


def test_a_second_run_trains_nothing_that_the_first_has_trained(tmp_path, bert_folder, rows_csv, monkeypatch):
    def plan_of(name: str):
        train = {"epochs": 0.2, "batch": 16, "precision": "fp32"}
        stages = [{"name": name, "train": train}, {"name": "int8", "methods": [{"use": "int8"}]}]
        data = {"path": str(rows_csv), "max_tokens": 24}
        values = {"model": str(bert_folder), "task": "classification", "data": data, "quantize": [], "stages": stages}
        return make_plan(parse(values), "shared")

    def run(name: str, folder: Path) -> list[Path]:
        (folder / "stages").mkdir(parents=True)
        plan, ledger = plan_of(name), Ledger(folder / "ledger.jsonl")
        for stage in plan.stages:
            run_stage(plan, stage, folder, ledger, lambda: False)
        write = {**plan.to_json(), "inputs": {}}
        (folder / "recipe.toml").write_text("")
        write_document(folder / "plan.json", write, ["recipe.toml"])
        return [folder / stage.folder for stage in plan.stages]

    first = run("teacher", tmp_path / "one")
    monkeypatch.setattr("niwaki.run.runner.make_stage", lambda job: pytest.fail("it is trained again"))
    second = run("tutor", tmp_path / "two")
    assert [stage.name.split("-")[0] for stage in second] == ["tutor", "int8"]
    assert [weights(stage).read_bytes() for stage in first] == [weights(stage).read_bytes() for stage in second]
    charges = Ledger(tmp_path / "two" / "ledger.jsonl").lines()
    assert [(line["stage"], line["what"], line["status"]) for line in charges] == [
        ("tutor", "reuse", "done"),
        ("int8", "reuse", "done"),
    ]
    shutil.rmtree(tmp_path / "one")
    shutil.rmtree(tmp_path / ".stages")
    assert len(open_run(tmp_path / "two", full=True).stages) == 2, "a run is complete without the store"
