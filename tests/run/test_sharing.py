"""Runs that divide the stages of a sweep among them: each stage is made once, also if workers are killed, and inputs come first."""

import hashlib
import multiprocessing
import os
import random
import signal
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from niwaki.cli.run import parse_seeds
from niwaki.core.errors import UsageError
from niwaki.core.run_folder import fault_in_stage
from niwaki.meter import meter
from niwaki.meter.ledger import Ledger
from niwaki.run import runner
from niwaki.run.runner import make_stages
from run.test_stage_store import write_stage

NAMES = ("teacher", "student", "int8")  # each starts from the one before; the student also reads the teacher
STORED = SimpleNamespace(cache=SimpleNamespace(stages=True), meter=SimpleNamespace(window=meter))


def plan_of(seeds: range) -> SimpleNamespace:
    plans = []
    for seed in seeds:
        stages = []
        for place, name in enumerate(NAMES):
            key = hashlib.sha256(f"{name} {seed}".encode()).hexdigest()
            spec = SimpleNamespace(name=name, train=None, teachers=["teacher"] if name == "student" else [])
            stages.append(
                SimpleNamespace(
                    name=name,
                    spec=spec,
                    parent=NAMES[place - 1] if place else None,
                    methods=[],
                    key=key,
                    seed=seed,
                    folder=f"stages/{name}-{key[:12]}",
                    work_folder=f"stages/.work-{name}-{key[:12]}",
                )
            )
        plans.append(SimpleNamespace(recipe=SimpleNamespace(**vars(STORED), seed=seed), stages=stages, repeats=[]))
    plans[0].repeats = plans[1:]
    return plans[0]


def work(folder: str, seeds: range, log: str, seconds: float, dies_at: int) -> None:
    """A worker, which is killed while it makes its stage number `dies_at`."""
    count = 0

    def make(job) -> None:
        nonlocal count
        count += 1
        for name in runner.stages_read(job.stage):
            assert any((Path(folder) / "stages").glob(f"{name}-*")), f"{job.stage.name} was made before {name}"
        time.sleep(seconds)
        if count == dies_at:
            os.kill(os.getpid(), signal.SIGKILL)
        write_stage(job.run_folder / job.stage.folder, job.stage.name, job.stage.key)
        with Path(log).open("a") as file:
            file.write(f"{job.stage.name} {job.stage.seed} {os.getpid()}\n")

    runner.make_stage = make
    (Path(folder) / "stages").mkdir(parents=True, exist_ok=True)
    make_stages(plan_of(seeds), Path(folder), Ledger(Path(folder) / "ledger.jsonl"), lambda: False)


def run_workers(tmp_path: Path, seeds: range, dies_at: list[int], seconds: float = 0.02) -> list[str]:
    """Starts a worker for each number, and again those that are killed; returns the log of the stages that were made."""
    context, log = multiprocessing.get_context("fork"), tmp_path / "log"
    starts = list(enumerate(dies_at))
    while starts:
        processes = [
            (number, context.Process(target=work, args=(str(tmp_path / str(number)), seeds, str(log), seconds, at)))
            for number, at in starts
        ]
        for _, process in processes:
            process.start()
        for _, process in processes:
            process.join()
        assert {process.exitcode for _, process in processes} <= {0, -9}
        starts = [(number, 0) for number, process in processes if process.exitcode]
    return log.read_text().splitlines()


def assert_each_once(tmp_path: Path, seeds: range, workers: int, lines: list[str]) -> None:
    assert sorted(line.rpartition(" ")[0] for line in lines) == sorted(
        f"{name} {seed}" for name in NAMES for seed in seeds
    )
    plan = plan_of(seeds)
    for worker in range(workers):
        for seeded in (plan, *plan.repeats):
            for stage in seeded.stages:
                assert fault_in_stage(tmp_path / str(worker) / stage.folder, stage.key) is None


def test_two_workers_make_each_stage_once_although_one_is_killed(tmp_path, quick_disk):
    lines = run_workers(tmp_path, range(2), [2, 0])
    assert_each_once(tmp_path, range(2), 2, lines)
    assert len({line.split()[2] for line in lines}) > 1, "one worker made everything"


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_a_sweep_of_twelve_survives_random_kills(tmp_path, quick_disk, seed):
    draw = random.Random(seed)
    seeds, dies_at = range(12), [draw.randrange(1, 8) for _ in range(4)]
    assert_each_once(tmp_path, seeds, 4, run_workers(tmp_path, seeds, dies_at, seconds=0.05))


@pytest.mark.parametrize(
    ("text", "seeds"), [("3", [3]), ("0-4", [0, 1, 2, 3, 4]), ("0,7,9", [0, 7, 9]), ("2-3,3,0", [2, 3, 0])]
)
def test_seeds_are_read_as_ranges_and_lists(text, seeds):
    assert parse_seeds(text) == seeds


@pytest.mark.parametrize("text", ["a", "4-2", "-1", "1-", "0-99999", ""])
def test_other_seeds_are_rejected(text):
    with pytest.raises(UsageError, match="is no seed and no range of at most 1000; write 0-4 or 0,7,9"):
        parse_seeds(text)
