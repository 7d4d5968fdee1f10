"""Corrupts the files of runs and models: `python benchmarks/corruptions.py [read] [stored] [clean loads]`.

First, runs and model folders (exports, copied stages, cascades) are corrupted `read` times: edited scores, plans, measurements and
reports; swapped, copied or missing stages; missing or empty MANIFESTs; changed, truncated, zeroed, emptied or added files. load,
predict, eval and report must either report the damage with exit code 3 or give the same answers as before.

Then files that `niwaki run` resumes from are corrupted `stored` times: flipped bits, truncated, removed or exchanged files in stages,
checkpoints, teacher caches, measurements and the ledger. `niwaki run`, and for finished models `niwaki predict`, must report the damage
in one line or read the same content. Then runs resume with ten damaged files at once and must give the results of an undamaged run.
Finally, undamaged folders are loaded `clean loads` times without an alarm. Appends a record to results/corruptions.jsonl.
"""

import os
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

os.environ.update(OMP_NUM_THREADS="1", HF_HUB_OFFLINE="1", TOKENIZERS_PARALLELISM="false")
sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import torch
from records import append, circumstances

import tiny
from reliability import aimed, run_damage
from reliability.damage import KINDS, damaged, harm, subjects
from reliability.same import differences
from run import small

PARTS = {"stage": 4, "served": 4, "state": 3, "cache": 1, "measurement": 2, "ledger": 2}  # relative frequencies
RUNS, AT_ONCE = 4, 10


def main(read: int, count: int, clean: int) -> None:
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        record = measure(Path(folder), read, count, clean)
    append("corruptions", {**record, **circumstances()})
    print(record)
    wrong = record["unseen"] or record["false_alarms"] or record["differing"] or record["read"]["silent"]
    sys.exit(1 if wrong else 0)


def read_by_verbs(run: Path, rows: Path, place: Path, count: int) -> dict:
    """Corruptions of every kind in turn, runs twice as often; counts by outcome, and those not noticed."""
    tally, silent, began = Counter(), [], time.monotonic()
    (place / "copies").mkdir()
    sound = {one.kind: (one, one.answers()) for one in run_damage.subjects(run, rows, place)}
    pairs = [(kind, damage) for kind, some in run_damage.KINDS.items() for damage in some * (2 if kind == "run" else 1)]
    for number in range(count):
        kind, damage = pairs[number % len(pairs)]
        subject, before = sound[kind]
        ending, wrong = run_damage.corrupted(subject, damage, random.Random(number), before, place / "copies")
        tally[f"{kind}, {damage.__name__}, {ending}"] += 1
        silent += [f"{kind} {damage.__name__} {number}: {one}" for one in wrong]
    return {"corruptions": count, "tally": dict(tally), "silent": silent, "seconds": time.monotonic() - began}


def measure(folder: Path, read: int, count: int, clean: int) -> dict:
    (model := folder / "model").mkdir()
    tiny.model("bert", ffn=256).save(model)
    recipe = small.write_recipe(folder, model, tiny.write_csv(folder / "rows.csv"), epochs=2, save=0.001)
    aimed.run_alone(recipe, folder / "alone", folder / "log")
    run = shutil.copytree(folder / "alone", folder / "read" / "run")
    read_of = read_by_verbs(run, folder / "rows.csv", folder / "read", read)
    began = time.monotonic()
    targets = subjects(shutil.copytree(folder / "alone", folder / "hit"), folder)
    draw, tally, unseen = random.Random(0), Counter(), []
    for _ in range(count):
        part = draw.choices(list(PARTS), list(PARTS.values()))[0]
        kind, subject = draw.choice(KINDS), draw.choice(targets[part])
        with damaged(subject, kind, draw) as path:
            verdict = subject.look()
        tally[f"{part} {kind} {'named' if verdict.named else 'harmless' if verdict.harmless else 'unseen'}"] += 1
        if not verdict.good or "\n" in verdict.named:
            unseen.append(f"{kind} of {path.relative_to(folder)}")
    alarms = 0
    for _ in range(clean):
        part = draw.choices(list(PARTS), list(PARTS.values()))[0]
        alarms += bool(draw.choice(targets[part]).look().named)
    return {
        "read": read_of,
        "corruptions": count,
        "tally": dict(tally),
        "unseen": unseen,
        "clean_loads": clean,
        "false_alarms": alarms,
        **whole_runs(folder, recipe, draw),
        "seconds": time.monotonic() - began,
    }


def whole_runs(folder: Path, recipe: Path, draw: random.Random) -> dict:
    """Damages ten files at once and repeats the command: it must exit with 0 and give identical bits."""
    differing = []
    for number in range(RUNS):
        run = shutil.copytree(folder / "alone", folder / f"run-{number}")
        files = sorted(path for path in run.rglob("*") if path.is_file() and path.name != ".lock")
        for path in draw.sample(files, AT_ONCE):
            harm(path, draw.choice(KINDS[:3]), draw, [path])
        process = small.begin([*aimed.command(recipe, run), "--quiet"], folder / "log")
        process.join()
        differing += [] if process.exitcode == 0 else [f"run-{number} ended with {process.exitcode}"]
        differing += differences(run, folder / "alone")
    return {"whole_runs": RUNS, "damaged_at_once": AT_ONCE, "differing": differing}


if __name__ == "__main__":
    given = [int(value) for value in sys.argv[1:]]
    main(*(given + [300, 300, 100][len(given) :]))
