"""Frozen features of a bidirectional LSTM language model: `python benchmarks/elmo.py SHARED FOLDER [EPOCHS] [SEEDS]`. Appends to results/elmo.jsonl.

The language model (family bilstm_lm) is trained on wiki_en for EPOCHS epochs (default 1). Then a linear head is trained on its frozen features, on entities (wnut17,
btc_ner) and sentiment (SST-2, 10,000 training rows): `weighted` reads the learned weighted sum of all layers, `top` the last layer, `static` the token vectors of the
same model. `random` is the weighted sum over a network that was not trained.
"""

import sys
import time
from pathlib import Path

import pyarrow.parquet as pq
from records import append, circumstances

from niwaki.core.files import read_json
from niwaki.core.json_types import Json
from niwaki.core.system import usable_cores
from niwaki.meter.ledger import Ledger
from niwaki.run.plan import make_plan
from niwaki.run.recipe import parse
from niwaki.run.runner import quiet_libraries, run_stage

LAYERS, ROWS = 2, 10_000
SHAPE = {
    "family": "bilstm_lm",
    "layers": LAYERS,
    "hidden_size": 256,
    "embedding_size": 256,
    "ffn_size": 50,
    "vocab_size": 8000,
}
READS = {"weighted": None, "top": LAYERS, "static": 0}
LANGUAGE_MODEL = {"objective": "bidirectional_lm", "batch": 32, "lr": 3e-3, "dropout": 0.1}
HEAD = {"epochs": 8, "lr": 3e-3, "dropout": 0.1}


def main(shared: Path, home: Path, epochs: float, seeds: list[int]) -> None:
    quiet_libraries()
    trained = pretrained(shared, home / "trained", {"epochs": epochs, **LANGUAGE_MODEL})
    untrained = pretrained(shared, home / "untrained", {**LANGUAGE_MODEL, "epochs": 1e-6, "lr": 1e-9})
    tasks = {name: ("tagging", shared / name) for name in ("wnut17", "btc_ner")}
    tasks["sst2"] = ("classification", sentences(shared, home / "sst2"))
    arms = [*((name, trained, only) for name, only in READS.items()), ("random", untrained, None)]
    for seed in seeds:
        for name, (task, data) in tasks.items():
            for arm, start, only in arms:
                methods = [
                    {"use": "freeze", "layers": LAYERS},
                    {"use": "weighted_layers", "only": only, "dropout": 0.0},
                ]
                values = {
                    "model": str(start),
                    "task": task,
                    "data": {"path": str(data)},
                    "seed": seed,
                    "baselines": False,
                }
                stage = {"name": "features", "methods": [without_none(one) for one in methods], "train": HEAD}
                before = time.process_time()
                folder = run({**values, "stages": [stage]}, home / f"{name}-{arm}-{seed}")
                score = read_json(folder / "result.json")["score"]
                metric = score["metric"]
                append(
                    "elmo",
                    {
                        "task": name,
                        "features": arm,
                        "seed": seed,
                        "metric": metric,
                        "score": score["all"][metric]["value"],
                        "pretraining_epochs": epochs,
                        "cpu_seconds": time.process_time() - before,
                        "threads": usable_cores(),
                        **circumstances(),
                    },
                )


def pretrained(shared: Path, folder: Path, train: Json) -> Path:
    """The folder of a language model."""
    values = {"model": "minilm", "task": "language_modeling", "baselines": False}
    data = {"path": str(shared / "wiki_en"), "column": "text", "max_tokens": 64}
    stage = {"name": "language_model", "methods": [{"use": "from_scratch", **SHAPE}], "train": train}
    return run({**values, "data": data, "stages": [stage]}, folder) / "model"


def run(values: Json, folder: Path) -> Path:
    """The folder of the only stage; a finished one is taken from there."""
    plan = make_plan(parse({**values, "quantize": []}), folder.name)
    (folder / "stages").mkdir(parents=True, exist_ok=True)
    stage = plan.stages[0]
    if not (folder / stage.folder / "model").exists():
        run_stage(plan, stage, folder, Ledger(folder / "ledger.jsonl"), lambda: False)
    return folder / stage.folder


def sentences(shared: Path, folder: Path) -> Path:
    """The first training rows of SST-2; the development rows are the test rows."""
    folder.mkdir(parents=True, exist_ok=True)
    train, test = (
        pq.read_table(shared / "sst2" / f"{part}.parquet", columns=["sentence", "label"])
        for part in ("train", "validation")
    )
    for part, rows in (("train", train.slice(0, ROWS)), ("validation", train.slice(ROWS, ROWS // 10)), ("test", test)):
        pq.write_table(rows.rename_columns(["text", "label"]), folder / f"{part}.parquet")
    return folder


def without_none(values: Json) -> Json:
    return {name: value for name, value in values.items() if value is not None}


if __name__ == "__main__":
    epochs, seeds = [*sys.argv[3:], *("1", "0,1,2")[len(sys.argv) - 3 :]]
    main(Path(sys.argv[1]), Path(sys.argv[2]), float(epochs), [int(seed) for seed in seeds.split(",")])
