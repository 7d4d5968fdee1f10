"""Random chains of methods with random settings, on a tiny model: `python benchmarks/chains.py [--chains 300] [--seed 0]`.

Each combination of 2 to 4 methods, in as many stages or fewer, is either rejected before any work or completed. A new process then loads
the model, which must give equal outputs in torch and in the engine. Rejections by a stage are counted separately. Appends one record to
results/chains.jsonl; faults are printed with their recipe.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
import traceback
import types
import typing
from collections import Counter
from pathlib import Path
from typing import Any

from annotated_types import Ge, Gt, Le, Lt
from records import append, circumstances
from tiny_models import tiny

from niwaki.core.errors import InputError
from niwaki.core.files import fault_in_folder
from niwaki.core.log import quiet
from niwaki.evaluate import quality
from niwaki.meter.ledger import Ledger
from niwaki.methods import METHODS
from niwaki.methods._method import Method
from niwaki.models.model import load_folder
from niwaki.run.plan import make_plan
from niwaki.run.recipe import parse
from niwaki.run.runner import quiet_libraries, run_stage

TRAIN = {"epochs": 0.5, "batch": 16, "lr": 1e-3, "precision": "fp32"}
MOST = 128  # upper limit of integers without their own
TEXTS = [text for text, _ in tiny.sentences(12, seed=9)]


def draw_settings(kind: type[Method], draw: random.Random) -> dict[str, Any]:
    """A valid random value, or the default, for each setting."""
    return {
        name: value
        for name, field in kind.model_fields.items()
        if draw.random() < 0.7 and (value := draw_value(field, draw)) is not None
    }


def draw_value(field: Any, draw: random.Random) -> Any:
    kind, limits = field.annotation, field.metadata
    if typing.get_origin(kind) is typing.Literal:
        return draw.choice(typing.get_args(kind))
    if isinstance(kind, types.UnionType):
        return None
    if kind is bool:
        return draw.random() < 0.5
    if kind not in (int, float):
        return None
    low = next((getattr(limit, "ge", getattr(limit, "gt", None)) for limit in limits if isinstance(limit, Ge | Gt)), 0)
    high = next(
        (getattr(limit, "le", getattr(limit, "lt", None)) for limit in limits if isinstance(limit, Le | Lt)), None
    )
    if kind is int:
        return draw.randint(int(low), int(min(MOST, high if high is not None else MOST)))
    high = 2.0 if high is None else high
    value = draw.uniform(low, high)
    return value if low < value < high else None


def draw_stages(draw: random.Random) -> list[dict[str, Any]]:
    """2 to 4 methods after a teacher; some share a stage, and some stages train without need."""
    stages: list[dict[str, Any]] = [{"name": "teacher", "train": TRAIN}]
    for number in range(draw.randint(2, 4)):
        name = draw.choice(METHODS.names())
        method = {"use": name, **draw_settings(METHODS.load(name, Method), draw)}
        if number and draw.random() < 0.3:
            stages[-1]["methods"].append(method)
        else:
            stages.append({"name": f"stage{number}", "methods": [method]})
        requirements = [METHODS.load(entry["use"], Method).requires for entry in stages[-1]["methods"]]
        if any(required.teacher != "none" for required in requirements):
            stages[-1]["teacher"] = "teacher"
        if any(required.training for required in requirements) or draw.random() < 0.3:
            stages[-1]["train"] = TRAIN
    return stages


def make(recipe: dict[str, Any], home: Path) -> Path | None:
    """The model folder of the last stage; None if the recipe was rejected before any work."""
    try:
        plan = make_plan(parse(recipe), "chain")
    except InputError:
        return None
    for stage in plan.stages:
        run_stage(plan, stage, home, Ledger(home / "ledger.jsonl"), lambda: False)
    completed = home / plan.stages[-1].folder
    fault = fault_in_folder(completed)
    if fault:
        raise RuntimeError(fault)
    return completed / "model"


def answers(folder: Path) -> dict[str, list[list[float]]]:
    """Outputs of the model in torch and in the engine."""
    from niwaki.engines.predictor import Predictor

    found = {engine: Predictor(folder, engine=engine, threads=1) for engine in ("torch", "onnx")}
    return {engine: one.logits(one.tokenize(TEXTS)).tolist() for engine, one in found.items()}


def in_a_new_process(folders: list[Path]) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, __file__, "--answer", *map(str, folders)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    return json.loads(done.stdout.splitlines()[-1])


def main(count: int, seed: int) -> dict[str, Any]:
    quality.RESAMPLES = 10
    quiet()
    counts: Counter[str] = Counter()
    used: Counter[str] = Counter()
    faults = []
    with tempfile.TemporaryDirectory() as place:
        home = Path(place) / "run"
        (home / "stages").mkdir(parents=True)
        (home / "start").mkdir()
        tiny.model("bert").save(home / "start")
        rows = tiny.write_csv(home / "rows.csv")
        completed: dict[str, dict[str, Any]] = {}
        for number in range(count):
            stages = draw_stages(random.Random(f"{seed}/{number}"))
            recipe = {
                "model": str(home / "start"),
                "task": "classification",
                "data": {"path": str(rows)},
                "quantize": [],
                "stages": stages,
            }
            try:
                folder = make(recipe, home)
                if folder is not None:
                    load_folder(folder)
                    completed[str(folder)] = {"stages": stages, "answers": answers(folder)}
            except InputError as error:
                counts["refused at its stage"] += 1
                faults.append({"stages": stages, "error": str(error)})
                continue
            except Exception as error:  # noqa: BLE001 - a finding
                faults.append({"stages": stages, "error": f"{type(error).__name__}: {error}"})
                print(json.dumps(stages), traceback.format_exc(), file=sys.stderr, flush=True)
                counts["failed"] += 1
                continue
            counts["refused" if folder is None else "made"] += 1
            used.update(method["use"] for stage in stages[1:] for method in stage["methods"] if folder is not None)
        again = in_a_new_process([Path(folder) for folder in completed])
        for folder, one in completed.items():
            if again[folder] != one["answers"]:
                counts["different"] += 1
                faults.append({"stages": one["stages"], "error": "a new process gives other outputs"})
    return {
        "chains": count,
        "seed": seed,
        "outcomes": dict(counts),
        "methods": dict(sorted(used.items())),
        "faults": faults,
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chains", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--answer", nargs="*", help="used by itself: prints what the models in these folders give")
    given = parser.parse_args()
    quiet_libraries()
    if given.answer is not None:
        print(json.dumps({folder: answers(Path(folder)) for folder in given.answer}))
    else:
        record = main(given.chains, given.seed)
        print(json.dumps({key: value for key, value in record.items() if key != "methods"}, indent=1))
        append("chains", {**record, **circumstances()})
