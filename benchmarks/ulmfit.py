"""ULMFiT next to the same network without pretraining: `python benchmarks/ulmfit.py SHARED FOLDER [EPOCHS] [SIZES] [SEEDS]`. Appends to results/ulmfit.jsonl.

An LSTM language model (recipe lstm_lm) is trained on wiki_en for EPOCHS epochs (default 1), then as many on the reviews of the IMDb training set, without their labels.
Classifiers are trained on SIZES (default 100,500,5000) of its rows and scored on 2,000 test rows. `domain` and `general` start from these two models with recipe ulmfit;
`random` is the same network and tokenizer with the weights that the first one began with, trained with one learning rate for all. A tenth of the rows selects the
best epoch.
"""

import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from records import append, circumstances

from niwaki.core.files import read_json
from niwaki.core.system import usable_cores
from niwaki.meter.ledger import Ledger
from niwaki.run.plan import make_plan
from niwaki.run.runner import quiet_libraries, run_stage
from niwaki.run.start import read_recipe

EPOCHS_BY_ROWS = {100: 20, 500: 10, 5000: 3}
TEST_ROWS, TOKENS = 2000, 256
FROM_SCRATCH = "stages.0.train.epochs=0.000001", "stages.0.train.lr=1e-9"  # one step that changes nothing
ONE_RATE = "stages.0.methods=[]", "stages.0.train.lr=1e-3"


def main(shared: Path, home: Path, epochs: float, sizes: list[int], seeds: list[int]) -> None:
    quiet_libraries()
    wiki, reviews = texts(shared, home)
    general, spent = run("lstm_lm", home / "general", wiki, f"stages.0.train.epochs={epochs}")
    random, _ = run("lstm_lm", home / "random", wiki, *FROM_SCRATCH)
    more_text = "stages.0.methods=[]", f"stages.0.train.epochs={epochs}"
    domain, more = run("lstm_lm", home / "domain", reviews, f"model={general}", *more_text)
    starts = {"domain": (domain, spent + more), "general": (general, spent), "random": (random, 0.0)}
    for seed in seeds:
        for size in sizes:
            rows = labelled(shared, home / f"rows-{size}-{seed}", size, seed)
            for name, (start, seconds) in starts.items():
                folder = home / f"{name}-{size}-{seed}"
                extra = ONE_RATE if name == "random" else ()
                passes = EPOCHS_BY_ROWS[size]
                train = f"stages.0.train.epochs={passes}", f"data.max_tokens={TOKENS}", f"seed={seed}"
                found, cpu = run("ulmfit", folder, rows, f"model={start}", "task=classification", *train, *extra)
                scores = read_json(found.parent / "result.json")["score"]["all"]["accuracy"]["value"]
                append(
                    "ulmfit",
                    {
                        "start": name,
                        "rows": size,
                        "seed": seed,
                        "accuracy": scores,
                        "epochs": passes,
                        "pretraining_epochs": epochs,
                        "pretraining_cpu_seconds": seconds,
                        "cpu_seconds": cpu,
                        "test": TEST_ROWS,
                        "threads": usable_cores(),
                        **circumstances(),
                    },
                )


def run(recipe: str, folder: Path, data: Path, *settings: str) -> tuple[Path, float]:
    """The model of the only stage, and the CPU seconds that it took; a finished stage is taken from the folder."""
    values, name = read_recipe(recipe, [*settings], str(data))
    plan = make_plan(values, name)
    (folder / "stages").mkdir(parents=True, exist_ok=True)
    stage, start = plan.stages[0], time.process_time()
    if not (folder / stage.folder / "model").exists():
        run_stage(plan, stage, folder, Ledger(folder / "ledger.jsonl"), lambda: False)
    return folder / stage.folder / "model", time.process_time() - start


def texts(shared: Path, home: Path) -> tuple[Path, Path]:
    """The texts of wiki_en, and those of the IMDb training set without labels."""
    folders = home / "wiki", home / "reviews"
    for folder, source in zip(folders, ("wiki_en", "imdb"), strict=True):
        folder.mkdir(parents=True, exist_ok=True)
        table = pq.read_table(shared / source / "train.parquet", columns=["text"])
        pq.write_table(table, folder / "train.parquet")
    return folders


def labelled(shared: Path, folder: Path, size: int, seed: int) -> Path:
    """So many rows of the training set, a tenth of them for validation, and test rows that are the same for all."""
    folder.mkdir(parents=True, exist_ok=True)
    train, test = (
        pq.read_table(shared / "imdb" / f"{part}.parquet", columns=["text", "label"]) for part in ("train", "test")
    )
    chosen = sample(train, size, seed)
    held_out = size // 10
    for part, rows in (
        ("train", chosen.slice(held_out)),
        ("validation", chosen.slice(0, held_out)),
        ("test", sample(test, TEST_ROWS, 0)),
    ):
        names = pa.array(np.array(["negative", "positive"])[rows.column("label").to_numpy()])
        pq.write_table(pa.table({"text": rows.column("text"), "label": names}), folder / f"{part}.parquet")
    return folder


def sample(table: pa.Table, size: int, seed: int) -> pa.Table:
    return table.take(np.random.default_rng(seed).choice(table.num_rows, size, replace=False))


if __name__ == "__main__":
    epochs, sizes, seeds = [*sys.argv[3:], *("1", "100,500,5000", "0,1,2")[len(sys.argv) - 3 :]]
    main(
        Path(sys.argv[1]),
        Path(sys.argv[2]),
        float(epochs),
        *([int(one) for one in given.split(",")] for given in (sizes, seeds)),
    )
