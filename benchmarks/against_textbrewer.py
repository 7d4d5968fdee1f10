"""Runs the same distillation with TextBrewer and niwaki: `python benchmarks/against_textbrewer.py [--seeds 0 1 2] [--epochs 3]`.

Both use the same teacher (of benchmarks/demo.py), initial student (3 of its layers, feed-forward size 768), rows (Rotten Tomatoes),
epochs, batch size, learning rate and losses (hidden states, attention, soft targets). TextBrewer runs as its README shows, with batches
padded to their longest text, in its own environment in runs/. Both use all cores, in sequence, and are evaluated on the same test rows.
Appends to results/textbrewer.jsonl.
"""

import argparse
import json
import shutil
import subprocess
import sys
import sysconfig
import time
import venv
from pathlib import Path
from typing import Any

import numpy as np
from records import append, circumstances

from niwaki.core.files import read_json
from niwaki.engines.export import write_graph
from niwaki.engines.predictor import Predictor
from niwaki.meter.ledger import Ledger
from niwaki.models.model import load_folder
from niwaki.run.plan import Plan, make_plan
from niwaki.run.recipe import parse
from niwaki.run.runner import quiet_libraries, run_stage
from niwaki.tasks.rotten_tomatoes import RottenTomatoes
from niwaki.train.collator import encode_split

HOME = Path("runs/textbrewer")
LAYERS, FFN, LR, BATCH = 3, 768, 2e-4, 32
CHILD = Path(__file__).parent / "against_textbrewer_child.py"


def environment() -> Path:
    """Python of an environment with TextBrewer and this environment's torch and transformers."""
    folder = HOME / "env"
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "tensorboard"], check=True)
        subprocess.run(
            [python, "-m", "pip", "install", "-q", "--no-deps", "textbrewer"], check=True
        )  # keeps the installed torch
        site = next(folder.glob("lib/python*/site-packages"))
        (site / "ours.pth").write_text(sysconfig.get_paths()["purelib"] + "\n")
    return python


def plan_of(seed: int, epochs: float) -> Plan:
    demo = read_json(Path(f"runs/demo-seed-{seed}/plan.json"))
    teacher = Path(f"runs/demo-seed-{seed}") / next(one["folder"] for one in demo["stages"] if one["name"] == "teacher")
    train = {"epochs": epochs, "lr": LR, "batch": BATCH, "dropout": 0.0, "save_seconds": 1e6}
    stages = [
        {"name": "teacher"},
        {"name": "cut", "methods": [{"use": "student", "layers": LAYERS, "ffn": FFN}]},
        {"name": "student", "teacher": "teacher", "methods": [{"use": "tinybert", "embedding": 0.0}], "train": train},
    ]
    return make_plan(
        parse(
            {"model": str(teacher / "model"), "task": "rotten_tomatoes", "seed": seed, "quantize": [], "stages": stages}
        ),
        "textbrewer",
    )


def ours(plan: Plan, folder: Path) -> tuple[float, float]:
    """Seconds from rows to trained weights, with the teacher's forward pass and an empty cache; accuracy."""
    for left in folder.glob("stages/student-*"):
        shutil.rmtree(left)
    shutil.rmtree(HOME / ".teachers", ignore_errors=True)
    ledger = Ledger(folder / "ledger.jsonl")
    for stage in plan.stages[:2]:
        run_stage(plan, stage, folder, ledger, lambda: False)
    start = time.monotonic()
    run_stage(plan, plan.stages[2], folder, ledger, lambda: False)
    seconds = time.monotonic() - start
    return seconds, read_json(folder / plan.stages[2].folder / "result.json")["score"]["value"]


def theirs(plan: Plan, folder: Path, seed: int, epochs: float) -> tuple[float, float]:
    """As `ours`; the time covers training only, without imports and reading."""
    task = RottenTomatoes()
    cut, teacher = folder / plan.stages[1].folder / "model", folder / plan.stages[0].folder / "model"
    features = encode_split(load_folder(cut), task, "train")
    rows = folder / "rows.npz"
    np.savez(rows, ids=features.rows.ids.values, starts=features.rows.ids.starts, labels=np.asarray(features.targets))
    student_folder = folder / "theirs"
    shutil.rmtree(student_folder, ignore_errors=True)
    shutil.copytree(cut, student_folder)
    request = {
        "rows": rows,
        "teacher": teacher,
        "student": cut,
        "made": student_folder,
        "seed": seed,
        "epochs": epochs,
        "lr": LR,
        "batch": BATCH,
    }
    done = subprocess.run(
        [
            environment(),
            CHILD,
            json.dumps(
                {key: value if isinstance(value, int | float) else str(value) for key, value in request.items()}
            ),
        ],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    write_graph(load_folder(student_folder), student_folder)
    test = task.splits()["test"]
    value = task.scorer.scores(task.scorer.example_stats(Predictor(student_folder).values(task.inputs(test)), test))[
        task.metric
    ]
    return float(json.loads(done.stdout.splitlines()[-1])["seconds"]), value


def compare(seed: int, epochs: float) -> dict[str, Any]:
    plan, folder = plan_of(seed, epochs), HOME / f"seed-{seed}"
    (folder / "stages").mkdir(parents=True, exist_ok=True)
    own = ours(plan, folder)
    other = theirs(plan, folder, seed, epochs)
    return {
        "seed": seed,
        "epochs": epochs,
        "teacher": read_json(folder / plan.stages[0].folder / "result.json")["score"]["value"],
        "niwaki": {"seconds": own[0], "accuracy": own[1]},
        "textbrewer": {"seconds": other[0], "accuracy": other[1]},
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--epochs", type=float, default=3.0)
    given = parser.parse_args()
    quiet_libraries()
    for number in given.seeds:
        found = compare(number, given.epochs)
        sys.stderr.write(f"{found}\n")
        append("textbrewer", {**found, **circumstances()})
