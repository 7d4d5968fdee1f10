"""Kills runs with SIGKILL at chosen and random moments: `python benchmarks/kills.py [kills]` (100).

The recipe of the tests (teacher, student with cached teacher logits, pruned, int8; a checkpoint after every step) runs once undisturbed.
Then it is killed and restarted by the same command, run after run, until there are enough kills: inside saves, between stages, while
recovering from the previous kill, and at random moments. Appends a record to results/kills.jsonl: where the kills happened, and
differences other than times and energy.
"""

import os
import random
import sys
import tempfile
import time
from collections import Counter
from itertools import islice
from pathlib import Path

os.environ.update(OMP_NUM_THREADS="1", HF_HUB_OFFLINE="1", TOKENIZERS_PARALLELISM="false")
sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from records import append, circumstances

import tiny
from niwaki.core.files import read_lines
from niwaki.meter.ledger import Ledger
from reliability import aimed
from reliability.same import differences, ledger_faults
from run import small

WEIGHTS = {"save": 10, "border": 3, "recovery": 4, "random": 3}  # relative frequencies


def main(kills: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        record = measure(Path(folder), kills)
    append("kills", {**record, **circumstances()})
    print(record)
    sys.exit(0 if record["same"] else 1)


def measure(folder: Path, kills: int) -> dict:
    (model := folder / "model").mkdir()
    tiny.model("bert", ffn=256).save(model)
    recipe = small.write_recipe(folder, model, tiny.write_csv(folder / "rows.csv"), epochs=1, save=0.001)
    whole = aimed.run_alone(recipe, folder / "alone", folder / "log")
    began, done, found = time.monotonic(), [], {"differing": [], "ledger": []}
    charges: Counter = Counter()
    repeated = runs = 0
    while len(done) < kills:
        aims = aimed.drawn_aims(random.Random(runs), whole, WEIGHTS)
        run = folder / f"run-{runs}"
        killed = aimed.kill_often(recipe, run, folder / "log", islice(aims, kills - len(done)))
        found["differing"] += [f"{run.name}: {name}" for name in differences(run, folder / "alone")]
        found["ledger"] += [f"{run.name}: {fault}" for fault in ledger_faults(run, killed.open_attempts)]
        charges.update(Ledger(run / "ledger.jsonl").total()["all"].statuses)
        done, repeated, runs = done + killed.places, repeated + killed.repeated, runs + 1
        print(
            f"{len(done)} kills in {runs} runs, {time.monotonic() - began:.0f} s: {Counter(done)} {found}", flush=True
        )
    attempts = sum(line["event"] == "begin" for path in folder.glob("run-*/ledger.jsonl") for line in read_lines(path))
    return {
        "what": "small recipe",
        "kills": len(done),
        "runs": runs,
        "places": dict(Counter(done)),
        **found,
        "repeated_stages": repeated,
        "attempts": attempts,
        "outcomes": dict(charges),
        "seconds": time.monotonic() - began,
        "seconds_alone": whole,
        "same": not (found["differing"] or found["ledger"] or repeated),
    }


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
