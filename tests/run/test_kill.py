"""Ctrl-C and kill -9: the same command goes on, and ends with the bits of a run that nobody disturbed."""

import os
import random
import signal
import time
from pathlib import Path

import pytest

from niwaki.core.files import fault_in
from run import small

INTERRUPTED = 130


def run_to_end(arguments: list[str], log: Path) -> float:
    began = time.monotonic()
    process = small.begin(arguments, log)
    process.join()
    assert process.exitcode == 0, log.read_text()
    return time.monotonic() - began


def kill_often(arguments: list[str], log: Path, whole: float, kills: int, seed: int) -> list[str]:
    """Starts the run and kills it, `kills` times, each at a random moment of a whole run; says where each kill fell."""
    draw = random.Random(seed)
    places = []
    while len(places) < kills:
        process = small.begin(arguments, log)
        process.join(draw.uniform(0.05, 0.4) * whole)
        if process.exitcode is not None:
            assert process.exitcode == 0, log.read_text()
            break  # all is made: there is nothing left to kill
        os.kill(process.pid, signal.SIGKILL)
        process.join()
        folder = Path(arguments[arguments.index("--out") + 1])
        places.append(" ".join(sorted(path.name for path in folder.glob("stages/*"))) or "before the first stage")
    return places


def assert_same(run: Path, undisturbed: Path) -> None:
    assert small.weights(run) == small.weights(undisturbed)
    assert small.histories(run) == small.histories(undisturbed)
    assert all(fault_in(folder) is None for folder in run.glob("stages/*"))
    assert [path.name for path in run.rglob(".*")] == [".lock"], "something half-written is left"


def test_ctrl_c_saves_and_the_same_command_goes_on(tmp_path, recipe_file, finished):
    out, log = tmp_path / "run", tmp_path / "log"
    arguments = ["run", str(recipe_file), "--out", str(out)]
    process = small.begin(arguments, log)
    while not list(out.glob("stages/.work-teacher-*/train.jsonl")):  # until training has begun
        assert process.is_alive(), log.read_text()
        time.sleep(0.002)
    os.kill(process.pid, signal.SIGINT)
    process.join()
    assert process.exitcode == INTERRUPTED
    assert list(out.glob("stages/.work-teacher-*/state-*/MANIFEST")), "nothing was saved"
    assert not list(out.glob("stages/teacher-*")), "it was too late"
    said = log.read_text()
    assert "niwaki: interrupted; what was finished is kept" in said and "Traceback" not in said
    run_to_end(arguments, log)
    assert_same(out, finished)
    outcomes = [line["outcome"] for line in _charges(out) if line["stage"] == "teacher"]
    assert outcomes == ["interrupted", "done"]


def test_kill_9_at_five_random_moments(tmp_path, recipe_file, timed):
    finished, whole = timed
    out, log = tmp_path / "run", tmp_path / "log"
    arguments = ["run", str(recipe_file), "--out", str(out), "--quiet"]
    places = kill_often(arguments, log, whole, kills=5, seed=5)
    assert len(places) >= 3
    run_to_end(arguments, log)
    assert_same(out, finished)
    done = [line["stage"] for line in _charges(out) if line["outcome"] == "done" and line["what"] in ("train", "make")]
    assert sorted(done) == sorted(set(done)), "a finished stage was made twice"


@pytest.mark.slow
def test_kill_9_at_twenty_random_moments_of_a_short_run(tmp_path, bert_folder, rows_csv, capsys):
    """Longer training, killed 20 times: more often where a run ends before the 20th, in runs of their own."""
    recipe = small.write_recipe(tmp_path, bert_folder, rows_csv, epochs=30, save=0.2)
    log = tmp_path / "log"
    whole = run_to_end(["run", str(recipe), "--out", str(tmp_path / "whole"), "--quiet"], log)
    killed = runs = 0
    while killed < 20:
        out = tmp_path / f"run-{runs}"
        arguments = ["run", str(recipe), "--out", str(out), "--quiet"]
        places = kill_often(arguments, log, whole, kills=20 - killed, seed=runs)
        run_to_end(arguments, log)
        assert_same(out, tmp_path / "whole")
        killed, runs = killed + len(places), runs + 1
        with capsys.disabled():
            for place in places:
                print(f"killed with these there: {place}")  # noqa: T201
    with capsys.disabled():
        print(f"{killed} kills in {runs} runs: weights and histories of all stages equal, bit for bit")  # noqa: T201


def _charges(run: Path) -> list[dict]:
    from niwaki.meter.ledger import Ledger

    return Ledger(run / "ledger.jsonl").lines()
