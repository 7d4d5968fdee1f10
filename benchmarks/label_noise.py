"""Changes labels on purpose and looks for them as `niwaki check --labels` does: `python benchmarks/label_noise.py DATA [dataset/rows/percent/seed …]`.

DATA is the folder of `own_data.py`. A job draws train rows, of which a tenth validates, gives `percent` of them another label at random, and compares the suspicious
rows with the changed ones. Labels of the published rows count as right, so precision is a lower bound. Appends to results/label_noise.jsonl; recorded jobs
are skipped.
"""

import itertools
import time
from pathlib import Path
from typing import Any

import jobs
import numpy as np
import own_data

from niwaki.evaluate.label_noise import label_noise
from niwaki.models.sources import locate
from niwaki.tasks.classification import Classification

KEYS = ("dataset", "rows", "percent", "seed")
ROWS, PERCENTS, SEEDS = (1000, 5000), (0, 10), (0, 1, 2)
MODEL = "minilm"
SHOWN = 10  # rows that the command prints without --json
Rows = own_data.Rows


def run(dataset: str, rows: int, percent: int, seed: int, data: str) -> dict[str, Any]:
    home = Path("runs") / "label-noise" / f"{dataset}-{rows}-{percent}-{seed}"
    given = own_data.drawn(dataset, rows, seed, Path(data))
    noisy, true_labels = with_changed_labels(given["train"], percent, seed)
    own_data.write({"train": noisy, "test": given["test"]}, home)
    task = Classification(path=str(home))
    start = time.process_time()
    found = label_noise(task, locate(MODEL))
    seconds = time.process_time() - start
    names = [name for name in own_data.COLUMNS if name in noisy[0]]
    columns = [task.splits()["train"].column(name).to_pylist() for name in names]
    changed = true_labels.keys() & set(zip(*columns, strict=True))  # others validate
    return {
        **dict(zip(KEYS, (dataset, rows, percent, seed), strict=True)),
        "train_rows": found["rows"],
        "changed": len(changed),
        "estimate": found["noise"],
        "reliable": found["reliable"],
        "model": found["model"],
        **hits(found["suspects"], {key: true_labels[key] for key in changed}),
        "cpu_seconds": seconds,
    }


def with_changed_labels(rows: Rows, percent: int, seed: int) -> tuple[Rows, dict[tuple[str, ...], str]]:
    """The rows, and the true labels of changed rows by input."""
    draw = np.random.default_rng([seed, percent])
    labels = sorted({row["label"] for row in rows})
    found, true_labels = [dict(row) for row in rows], {}
    for place in draw.permutation(len(rows))[: len(rows) * percent // 100]:
        row = found[place]
        true_labels[inputs_of(row)] = row["label"]
        row["label"] = draw.choice([name for name in labels if name != row["label"]])
    return found, true_labels


def inputs_of(row: dict[str, Any]) -> tuple[str, ...]:
    return tuple(row[name] for name in own_data.COLUMNS if name in row)


def hits(suspects: Rows, true_labels: dict[tuple[str, ...], str]) -> dict[str, Any]:
    """How many suspicious rows were changed, how many of the first, and how many of the suggested labels are the true ones."""
    keys = [(one["input"],) if isinstance(one["input"], str) else tuple(one["input"]) for one in suspects]
    right = [key in true_labels for key in keys]
    suggested = sum(true_labels.get(key) == one["suggested"] for key, one in zip(keys, suspects, strict=True))
    return {"suspects": len(suspects), "hits": sum(right), "first_hits": sum(right[:SHOWN]), "suggested": suggested}


if __name__ == "__main__":
    grid = itertools.product(ROWS, PERCENTS, SEEDS, own_data.FILES)
    found = [
        (name, rows, percent, seed) for rows, percent, seed, name in grid if rows in own_data.SMALL.get(name, ROWS)
    ]
    jobs.main(__doc__, "label_noise", KEYS, found, run)
