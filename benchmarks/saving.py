"""Measures the cost of saving checkpoints: `python benchmarks/saving.py [saves]`, 12 by default.

Trains the first stage of the default recipe (MiniLM, the bundled reviews) with a checkpoint every 5 s, so that training and saving
alternate under the same conditions. By default a checkpoint is saved every 60 s (train.save_seconds), so the share of a save is its
seconds ÷ (60 + its seconds), measured in wall time and in CPU time; on a busy machine CPU time decides. The first save is left out
because its folder is new. Appends a record to results/saving.jsonl.
"""

import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from records import append, circumstances

from niwaki.core.files import folder_bytes
from niwaki.meter.ledger import Ledger
from niwaki.run.plan import make_plan
from niwaki.run.recipe import locate, read
from niwaki.run.stage import make_stage
from niwaki.run.steps.job import StageJob
from niwaki.train.loop import Interrupted, _Fit
from niwaki.train.settings import TrainSettings

TARGET, EVERY = 0.03, 5
SETTINGS = ["quantize=[]", "stages.teacher.train.epochs=100", f"stages.teacher.train.save_seconds={EVERY}"]


def main(saves: int) -> None:
    Path("runs").mkdir(exist_ok=True)  # on the disk of the runs, because a temporary folder may be in memory
    busy = Busy()
    with tempfile.TemporaryDirectory(dir="runs") as folder:
        record = measure(Path(folder), saves)
    shared = busy.share() > 0.1
    record |= {"others": busy.share(), "share": record["processor"]["share"] if shared else record["clock"]["share"]}
    append("saving", {**record, **circumstances()})
    print(record)
    sys.exit(0 if record["share"] < TARGET else 1)


def measure(folder: Path, saves: int) -> dict[str, Any]:
    plan = make_plan(read(locate("rotten_tomatoes"), SETTINGS), "saving")
    stage = plan.stages[0]
    watch = Watch(saves + 1)
    (folder / "stages").mkdir()
    with Ledger(folder / "ledger.jsonl").begin(stage="saving", what="train") as attempt:
        job = StageJob(plan, stage, folder, attempt, watch.should_stop)
        try:
            make_stage(job)
        except Interrupted:
            attempt.end("interrupted")
    state = max(job.work_folder.glob("checkpoint-*"))
    return {
        "default_seconds": TrainSettings().save_seconds,
        "every": EVERY,
        "saves": saves,
        "steps": watch.steps,
        "batch": stage.spec.train.batch,
        "clock": summary([clock for clock, _ in watch.timed]),
        "processor": summary([processor for _, processor in watch.timed]),
        "state_bytes": folder_bytes(state),
        "asked": TARGET,
    }


def summary(seconds: list[float]) -> dict[str, Any]:
    middle = statistics.median(seconds)
    return {"each": seconds, "seconds": middle, "share": middle / (TrainSettings().save_seconds + middle)}


class Watch:
    """Times every save, and stops after a number of them."""

    def __init__(self, most: int) -> None:
        self.most, self.saves, self.steps = most, [], 0
        save = _Fit._save

        def timed(fit: _Fit) -> None:
            clock, processor = time.monotonic(), time.process_time()
            save(fit)
            self.saves.append((time.monotonic() - clock, time.process_time() - processor))

        _Fit._save = timed

    @property
    def timed(self) -> list[tuple[float, float]]:
        """Durations without the first save and the save on stopping."""
        return self.saves[1 : self.most]

    def should_stop(self) -> bool:
        self.steps += 1
        return len(self.saves) >= self.most


class Busy:
    """The share of this process's processors that others used since creation."""

    def __init__(self) -> None:
        self.began, self.before = time.process_time(), self._worked()

    def _worked(self) -> float:
        """Busy seconds of the allowed processors, for any process."""
        allowed = {f"cpu{number}" for number in os.sched_getaffinity(0)}
        rows = [line.split() for line in Path("/proc/stat").read_text().splitlines()]
        ticks = sum(int(value) for row in rows if row[0] in allowed for value in (*row[1:4], *row[6:9]))
        return ticks / os.sysconf("SC_CLK_TCK")

    def share(self) -> float:
        worked, own = self._worked() - self.before, time.process_time() - self.began
        return max(0.0, 1 - own / worked)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 12)
