"""Fine-tunes the teacher of the own-data recipe on few rows, next to simple baselines: `python benchmarks/own_data.py DATA [dataset/rows/settings/seed …]`.

DATA is the folder with `sst2`, `cola`, `ag_news`, `qnli`, `wordnet30`, `imdb`, `mnli` and `pawsx` as Parquet; the last three were not used to develop the recipe. A job draws rows from a dataset's train rows, of which a tenth
validates, and at most 1,000 test rows, with its seed. `alternatives` takes the recipe as it is, `fixed` its first settings, `probe` a linear
probe that is kept unless fine-tuning is better by more than chance. Appends to
results/own_data.jsonl; recorded jobs are skipped. Stages after the teacher are left out. Processor seconds are of one thread (OMP_NUM_THREADS=1).
"""

import csv
import itertools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jobs
import numpy as np
import pyarrow.parquet as pq

from niwaki.core.files import read_json, write_json
from niwaki.core.lock import locked
from niwaki.meter.ledger import Ledger
from niwaki.run.comparisons import comparisons
from niwaki.run.plan import make_plan
from niwaki.run.recipe import locate, read
from niwaki.run.runner import inputs, once, run_baseline, run_stage

KEYS = ("dataset", "rows", "settings", "seed")
ROWS, SEEDS = (300, 1000, 5000), (0, 1, 2)
MAX_TEST = 1000
PROBE = [
    'stages.teacher.methods=[{ use = "freeze" }, { use = "auto_head", dense = false }, { use = "linear_probe", other_heads = "skip" }]',
    "stages.teacher.train={ auto = true }",
]
FIXED = [
    'stages.teacher.methods=[{ use = "freeze" }]',
    "stages.teacher.train={ epochs = 6, lr = 1e-4 }",
    "stages.teacher.alternatives=[]",
]
SETTINGS = {"alternatives": [], "fixed": FIXED, "probe": [*PROBE, "stages.teacher.alternatives=[]"]}
Rows = list[dict[str, Any]]
FILES = {  # dataset: train file, test file, input columns, label column
    "sst2": ("sst2/train", "sst2/validation", ("sentence",), "label"),
    "cola": ("cola/train", "cola/validation", ("sentence",), "label"),
    "ag_news": ("ag_news/train", "ag_news/test", ("text",), "label"),
    "qnli": ("qnli/train", "qnli/validation", ("question", "sentence"), "label"),
    "wordnet": ("wordnet30/synsets", "", ("gloss",), "lexfile"),  # 45 labels: lexicographer files of definitions
    "imdb": ("imdb/train", "imdb/test", ("text",), "label"),
    "mnli": ("mnli/train", "mnli/validation_matched", ("premise", "hypothesis"), "label"),
    "pawsx": ("pawsx/dev", "pawsx/test", ("sentence1_en", "sentence2_en"), "label"),  # 2,000 train rows
}
SMALL = {"pawsx": (300, 1000)}
COLUMNS = ("text", "second")


def drawn(dataset: str, rows: int, seed: int, data: Path) -> dict[str, Rows]:
    """Train rows, and test rows with labels that occur among them."""
    train_file, test_file, columns, label = FILES[dataset]
    draw = np.random.default_rng([seed, rows])
    train = table(data / f"{train_file}.parquet", columns, label)
    train = [train[place] for place in draw.permutation(len(train))]
    test = table(data / f"{test_file}.parquet", columns, label) if test_file else train[rows:]
    known = {row["label"] for row in train[:rows]}
    test = [row for row in test if row["label"] in known]
    return {"train": train[:rows], "test": [test[place] for place in draw.permutation(len(test))[:MAX_TEST]]}


def table(path: Path, columns: Sequence[str], label: str) -> Rows:
    """Distinct texts, so that no test row stands in the train rows."""
    found = pq.read_table(path, columns=[*columns, label]).to_pylist()
    rows = [
        {
            **{name: row[column].strip() for name, column in zip(COLUMNS, columns, strict=False)},
            "label": f"label {row[label]}",
        }
        for row in found
    ]
    return [*{tuple(row.values())[: len(columns)]: row for row in rows}.values()]


def write(parts: dict[str, Rows], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for part, rows in parts.items():
        with (folder / f"{part}.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, [*rows[0]])
            writer.writeheader()
            writer.writerows(rows)


def run(dataset: str, rows: int, settings: str, seed: int, data: str) -> dict[str, Any]:
    home = Path("runs") / "own-data" / f"{dataset}-{rows}-{seed}"
    write(drawn(dataset, rows, seed, Path(data)), home / "rows")
    changes = ["quantize=[]", 'task="classification"', f"data.path={json.dumps(str(home / 'rows'))}", f"seed={seed}"]
    recipe = read(locate("own_data"), [*changes, *SETTINGS[settings]])
    recipe = recipe.model_copy(update={"stages": recipe.stages[:1]})
    plan, ledger = make_plan(recipe, dataset), Ledger(home / "ledger.jsonl")
    with locked(home):
        (home / "stages").mkdir(exist_ok=True)
        run_stage(plan, plan.stages[0], home, ledger, lambda: False)
        once(home / "baseline.json", inputs(plan), lambda: run_baseline(plan, home, ledger))
        write_json(home / "comparisons.json", comparisons(plan, home))
    result = read_json(home / plan.stages[0].folder / "result.json")
    return {
        **dict(zip(KEYS, (dataset, rows, settings, seed), strict=True)),
        "labels": len(plan.task.labels or []),
        "test": plan.task.splits()["test"].num_rows,
        "metric": plan.task.metric,
        "score": result["score"]["value"],
        "baselines": {
            one["kind"]: one["score"]["value"] if one["score"] else None
            for one in read_json(home / "baseline.json")["baselines"]
        },
        "pairs": read_json(home / "comparisons.json")["pairs"],
        "methods": plan.stages[0].to_json()["methods"],
        "train": plan.stages[0].to_json()["train"],
        "training": result["training"],
        "choice": result.get("choice"),
        "spent": jobs.spent_on(plan.stages[0], home),
    }


if __name__ == "__main__":
    grid = itertools.product(ROWS, SEEDS, SETTINGS, FILES)
    found = [(name, rows, kind, seed) for rows, seed, kind, name in grid if name not in SMALL or rows in SMALL[name]]
    jobs.main(__doc__, "own_data", KEYS, found, run)
