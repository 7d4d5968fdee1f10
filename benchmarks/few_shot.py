"""Few-shot training next to SetFit: `python benchmarks/few_shot.py DATA SETFIT_PYTHON FOLDER [SEEDS] [DATASETS]`. Appends to results/few_shot.jsonl.

DATA is a JSON file: dataset → {"train": [[text, label], …], "test": …}. For each dataset and seed, 8 examples per label are drawn, and recipe few_shot and
SetFit (defaults, in its own environment) are trained on them in turns, on the same weights. The score is the accuracy on the test rows. Seconds and CPU
seconds are from loading the encoder to the saved model: for niwaki the stages `tuned` and `tuned-int8`, including the ONNX export; imports are left out.
Instead of SETFIT_PYTHON, the word `recorded` takes SetFit's figures on the same examples from an earlier record, which the new record then names.

SetFit's environment: `python -m venv ENV; ENV/bin/pip install torch==2.13.0; ENV/bin/pip install setfit==1.2.0 'transformers<5'`.
"""

import csv
import importlib
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from records import append, circumstances, read

from niwaki.core.files import read_json
from niwaki.core.system import usable_cores
from niwaki.engines.predictor import Predictor
from niwaki.meter.ledger import Ledger
from niwaki.models.sources import locate
from niwaki.run.plan import make_plan
from niwaki.run.runner import quiet_libraries, run_stage
from niwaki.run.start import read_recipe

SHOTS, THREADS = 8, usable_cores()
MEASURED = ("tuned", "tuned-int8")
# imported by functions of niwaki; SetFit imports its libraries at once, before the time starts
LAZY = (
    "accelerate",
    "onnx",
    "onnxruntime",
    "sklearn.linear_model",
    "torch.onnx.utils",
    "transformers.models.bert.modeling_bert",
)
AGREEMENT_ROWS = 300  # answered by torch too
Rows = list[tuple[str, int]]


def main(data: Path, setfit: str, home: Path, seeds: list[int], datasets: list[str]) -> None:
    quiet_libraries()
    for seed in seeds:
        for name, parts in json.loads(data.read_text(encoding="utf-8")).items():
            if datasets and name not in datasets:
                continue
            names = sorted({label for _, label in parts["train"]}, key=str)
            every, test = ([(text, names.index(label)) for text, label in parts[part]] for part in ("train", "test"))
            train = few(every, len(names), seed)
            folder = home / f"{name}-{seed}"
            found = {
                "niwaki": by_niwaki(train, test, folder, seed),
                "setfit": recorded(name, seed, len(test))
                if setfit == "recorded"
                else by_setfit(train, test, folder, seed, setfit),
            }
            append(
                "few_shot",
                {
                    "dataset": name,
                    "seed": seed,
                    "labels": len(names),
                    "test": len(test),
                    "threads": THREADS,
                    **found,
                    **circumstances(),
                },
            )


def few(rows: Rows, labels: int, seed: int) -> Rows:
    """So many examples of each label, drawn with the seed."""
    draw, found = np.random.default_rng(seed), []
    for label in range(labels):
        texts = [text for text, other in rows if other == label]
        found += [(texts[place], label) for place in draw.choice(len(texts), SHOTS, replace=False)]
    return found


def by_niwaki(train: Rows, test: Rows, folder: Path, seed: int) -> dict[str, Any]:
    """Stages of the recipe on the few rows. All test rows are scored afterwards, outside of the measured time."""
    rows = folder / "rows"
    rows.mkdir(parents=True)
    for part, some in (("train", train), ("validation", train), ("test", test[:32])):
        with (rows / f"{part}.csv").open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([("text", "label"), *((text, f"label {label}") for text, label in some)])
    recipe, name = read_recipe("few_shot", [f"seed={seed}"], str(rows))
    plan, run = make_plan(recipe, name), folder / "run"
    (run / "stages").mkdir(parents=True)
    for module in LAZY:
        importlib.import_module(module)
    spent: dict[str, tuple[float, float]] = {}
    for stage in map(plan.stage, MEASURED):
        start, cpu = time.monotonic(), time.process_time()
        run_stage(plan, stage, run, Ledger(run / "ledger.jsonl"), lambda: False)
        spent[stage.spec.name] = time.monotonic() - start, time.process_time() - cpu
    models = {name: run / plan.stage(name).folder / "model" for name in MEASURED}
    texts, gold = [text for text, _ in test], [f"label {label}" for _, label in test]
    values = {stage: Predictor(model, "onnx").values(texts) for stage, model in models.items()}
    values["tuned-int8, native"] = Predictor(models["tuned-int8"], "native").values(texts)
    trained = Predictor(models["tuned"], "torch").values(texts[:AGREEMENT_ROWS])
    seconds, cpu_seconds = (sum(spent[stage][which] for stage in MEASURED) for which in (0, 1))
    settings = plan.stage("tuned").spec.train
    assert settings is not None
    return {
        "settings": settings.model_dump(include={"objective", "epochs", "batch", "lr"}),
        "steps": read_json(run / plan.stage("tuned").folder / "result.json")["training"]["steps"],
        "scores": {stage: share(found, gold) for stage, found in values.items()},
        "same_as_trained": {stage: share(found[:AGREEMENT_ROWS], trained) for stage, found in values.items()},
        "seconds": seconds,
        "cpu_seconds": cpu_seconds,
        "bytes": {stage: sum(path.stat().st_size for path in model.rglob("*")) for stage, model in models.items()},
    }


def share(found: list[str], wanted: list[str]) -> float:
    return float(np.mean([one == other for one, other in zip(found, wanted, strict=True)]))


def recorded(dataset: str, seed: int, test: int) -> dict[str, Any]:
    """SetFit's figures on the same examples, from the newest record in which it was trained, with the time of that record."""
    rows = [row for row in read("few_shot") if (row["dataset"], row["seed"], row["test"]) == (dataset, seed, test)]
    row = next(row for row in reversed(rows) if "recorded" not in row["setfit"])
    return {**row["setfit"], "recorded": row["time"]}


def by_setfit(train: Rows, test: Rows, folder: Path, seed: int, python: str) -> dict[str, Any]:
    request = {
        "train": train,
        "test": test,
        "seed": seed,
        "threads": THREADS,
        "model": str(locate("minilm")),
        "out": str(folder / "setfit"),
    }
    (folder / "request.json").write_text(json.dumps(request), encoding="utf-8")
    child = Path(__file__).with_name("few_shot_child.py")
    done = subprocess.run(
        [python, str(child), str(folder / "request.json")], capture_output=True, text=True, check=True
    )
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


if __name__ == "__main__":
    main(
        Path(sys.argv[1]),
        sys.argv[2],
        Path(sys.argv[3]),
        [int(one) for one in (sys.argv[4] if len(sys.argv) > 4 else "0,1,2,3,4").split(",")],
        sys.argv[5].split(",") if len(sys.argv) > 5 else [],
    )
