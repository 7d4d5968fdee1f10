"""What saving costs: `python benchmarks/saving.py [minutes]`, 3 by default, on a machine that does nothing else.

The first stage of the default recipe (MiniLM, the embedded reviews) is trained with its defaults for so long, then
stopped. Time in saving ÷ time in training, the save that the stop itself asks for left out. Appends a record to
results/saving.jsonl.
"""

import sys
import tempfile
import time
from pathlib import Path

from records import append, circumstances

from niwaki.core.files import folder_bytes
from niwaki.meter.ledger import Ledger
from niwaki.run.plan import make_plan
from niwaki.run.recipe import locate, read
from niwaki.run.stage import StageMaker
from niwaki.train.loop import Interrupted, _Fit

ASKED = 0.03


def main(minutes: float) -> None:
    Path("runs").mkdir(exist_ok=True)  # on the disk that runs lie on: a temporary folder may be in memory
    with tempfile.TemporaryDirectory(dir="runs") as folder:
        record = measure(Path(folder), 60 * minutes)
    append("saving", {**record, **circumstances()})
    print(record)
    sys.exit(0 if record["saves"] and record["share"] < ASKED else 1)


def measure(folder: Path, seconds: float) -> dict:
    plan = make_plan(read(locate("rotten_tomatoes"), ["stages.teacher.train.epochs=100"]), "saving")
    stage = plan.stages[0]
    watch = Watch(seconds)
    (folder / "stages").mkdir()
    with Ledger(folder / "ledger.jsonl").begin(stage="saving", what="train") as attempt:
        maker = StageMaker(plan, stage, folder, attempt, watch.should_stop)
        try:
            maker.make()
        except Interrupted:
            attempt.end("interrupted")
    state = max(maker.work.glob("state-*"))
    spent = watch.ended - watch.began
    return {
        "save_seconds": stage.spec.train.save_seconds, "batch": stage.spec.train.batch, "steps": watch.steps, "saves": len(watch.saves), "each": watch.saves,
        "training_seconds": spent, "share": sum(watch.saves) / spent, "state_bytes": folder_bytes(state), "asked": ASKED,
    }  # fmt: skip


class Watch:
    """Times every save from the first step on, and stops after so many seconds."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.saves, self.steps, self.began, self.ended = seconds, [], 0, 0.0, 0.0
        save = _Fit._save

        def timed(fit: _Fit) -> None:
            start = time.monotonic()
            save(fit)
            if not self.ended:
                self.saves.append(time.monotonic() - start)

        _Fit._save = timed

    def should_stop(self) -> bool:
        now = time.monotonic()
        self.began = self.began or now
        self.steps += 1
        if now - self.began > self.seconds:
            self.ended = now
        return bool(self.ended)


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 3.0)
