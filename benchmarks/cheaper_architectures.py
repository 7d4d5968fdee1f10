"""Converts a fine-tuned model to cheaper architectures and compares each with a dense model pruned to the same cost: `python benchmarks/cheaper_architectures.py DATA [variant[/dataset[/seed]] …]`.

DATA is the folder with `sst2` and `imdb` as Parquet. A teacher is fine-tuned on some train rows; the variant and its control are distilled from it with the same settings on the same
rows. The control keeps as many neurons of the feed-forward blocks as cost the same operations for a text of median length. Where a variant does not cost less, the control is the
teacher trained on. Appends a record per job to results/cheaper_architectures.jsonl. Stages are stored in runs/architectures-… and reused.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import jobs
import numpy as np
import pyarrow.parquet as pq
import torch
from own_data import write

from niwaki.core.files import read_json
from niwaki.data.batching import sorted_batches
from niwaki.evaluate.footprint import flops
from niwaki.evaluate.quality import difference
from niwaki.models.edits.ffn import Ffn
from niwaki.models.expert_routing import shares
from niwaki.models.forward import forward
from niwaki.models.model import Model, load_folder
from niwaki.models.record import ROUTING
from niwaki.run.plan import Plan, make_plan
from niwaki.run.recipe import parse
from niwaki.train.collator import Collator, encode_rows

KEYS = ("variant", "dataset", "seed")
LOGITS = {"use": "logits", "temperature": 1.0, "weight": 1.0}
DATASETS: dict[str, dict[str, Any]] = {
    "sst2": {
        "rows": (6000, 872),
        "files": ("sst2/train", "sst2/validation"),
        "text": "sentence",
        "data": {},
        "teacher": {"epochs": 2, "lr": 5e-5, "dropout": 0.0},
        "train": {"epochs": 3, "lr": 1e-4, "dropout": 0.0},
    },
    "imdb": {
        "rows": (2000, 500),
        "files": ("imdb/train", "imdb/test"),
        "text": "text",
        "data": {"max_tokens": 256},
        "teacher": {"epochs": 2, "lr": 5e-5, "dropout": 0.0},
        "train": {"epochs": 1, "lr": 5e-5, "dropout": 0.0},
    },
}
VARIANTS: dict[str, tuple[str, list[dict[str, Any]]]] = {
    "moefication-2-of-8": ("sst2", [{"use": "moefication", "experts": 8, "active": 2}, LOGITS]),
    "moefication-4-of-8": ("sst2", [{"use": "moefication", "experts": 8, "active": 4}, LOGITS]),
    "moefication-text-2-of-8": ("sst2", [{"use": "moefication", "experts": 8, "active": 2, "route": "text"}, LOGITS]),
    "moebert-1-of-4": ("sst2", [{"use": "moebert", "experts": 4}, LOGITS]),
    "upcycling-1-of-4": ("sst2", [{"use": "sparse_upcycling", "experts": 4}, LOGITS]),
}
SEEDS = (0,)


def rows_of(dataset: str, seed: int, data: str, home: Path) -> Path:
    """Rows drawn from the dataset as CSV files."""
    about, folder = DATASETS[dataset], home / "rows"
    found = {}
    for part, file, count in zip(("train", "test"), about["files"], about["rows"], strict=True):
        table = pq.read_table(Path(data) / f"{file}.parquet", columns=[about["text"], "label"]).to_pylist()
        places = np.random.default_rng([seed, count]).permutation(len(table))[:count]
        found[part] = [
            {"text": table[place][about["text"]].strip(), "label": f"label {table[place]['label']}"} for place in places
        ]
    if not folder.exists():
        write(found, folder)
    return folder


def planned(dataset: str, seed: int, rows: Path, name: str, methods: list[dict[str, Any]]) -> Plan:
    about = DATASETS[dataset]
    stages = [
        {"name": "teacher", "methods": [{"use": "freeze"}], "train": about["teacher"]},
        {"name": name, "teacher": "teacher", "methods": methods, "train": about["train"]},
    ]
    first = {"model": "minilm", "task": "classification", "seed": seed, "quantize": []}
    return make_plan(parse({**first, "data": {"path": str(rows), **about["data"]}, "stages": stages}), name)


def made(plan: Plan, home: Path) -> tuple[dict[str, Any], Path]:
    jobs.make(plan, home)
    folder = home / plan.stages[-1].folder
    return read_json(folder / "result.json"), folder


def control_neurons(teacher: Model, target: int, tokens: int) -> int:
    """How many neurons of each block a dense model of these operations has. Operations are linear in the neurons."""
    whole = teacher.anatomy.blocks[0].ffn_size
    costs = []
    for neurons in (whole, whole // 2):
        model = teacher.clone()
        model.apply_edit(Ffn(keep=[neurons] * len(model.anatomy.blocks)))
        costs.append(flops(model, tokens))
    each = (costs[0] - costs[1]) / (whole - whole // 2)
    return max(1, min(whole, int(whole - (costs[0] - target) / each)))


@torch.no_grad()
def expert_load(model: Model, plan: Plan) -> list[float]:
    """For each layer with experts, how many times as many test tokens the busiest expert gets as the mean."""
    layers = [layer.feed_forward for layer in model.anatomy.layers if layer.feed_forward.label() == "experts"]
    if not layers:
        return []
    collator = Collator(encode_rows(model, plan.task, plan.task.splits()["test"]), model, torch.device("cpu"))
    found: list[list[torch.Tensor]] = [[] for _ in layers]
    for places in batches(collator):
        outputs = forward(model.anatomy, collator.batch(places), frozenset({ROUTING}))
        for own, logits in zip(found, outputs.routing, strict=True):  # type: ignore[arg-type]
            own.append(logits)
    return [
        float(shares(torch.cat(own), layer.active).max() * layer.experts)
        for own, layer in zip(found, layers, strict=True)
    ]


def batches(collator: Collator) -> Iterable[np.ndarray]:
    return sorted_batches(collator.lengths, 64, 8192)


def run(variant: str, dataset: str, seed: int, data: str) -> dict[str, Any]:
    home = Path("runs") / f"architectures-{dataset}-{seed}"
    rows = rows_of(dataset, seed, data, home)
    plan = planned(dataset, seed, rows, "variant", VARIANTS[variant][1])
    result, folder = made(plan, home)
    teacher = home / plan.stages[0].folder
    first = read_json(teacher / "result.json")
    tokens, model = result["flops_tokens"], load_folder(teacher / "model")
    neurons = control_neurons(model, result["flops"], tokens)
    share = neurons / model.anatomy.blocks[0].ffn_size
    cut = [{"use": "ffn", "keep": share}] if share < 1 else []
    against = planned(dataset, seed, rows, "control", [*cut, LOGITS])
    control, other = made(against, home)
    pairs = {}
    for name, there in (("control", other), ("teacher", teacher)):
        stats = [[np.load(where / "example_stats.npy")] for where in (folder, there)]
        pairs[name] = difference(plan.task, *stats)
    return {
        **dict(zip(KEYS, (variant, dataset, seed), strict=True)),
        "methods": VARIANTS[variant][1],
        "rows": DATASETS[dataset]["rows"],
        "train": DATASETS[dataset]["train"],
        "control_neurons": neurons,
        "tokens": tokens,
        "models": {
            name: {key: found[key] for key in ("score", "parameters", "bytes", "flops")}
            for name, found in (("teacher", first), ("variant", result), ("control", control))
        },
        "pairs": pairs,
        "expert_load": expert_load(load_folder(folder / "model"), plan),
        "race": {"variant": jobs.raced(plan, home)["made"], "control": jobs.raced(against, home)["made"]},
        "spent": [jobs.spent_on(one.stages[-1], home) for one in (plan, against)],
    }


if __name__ == "__main__":
    every = [(name, dataset, seed) for seed in SEEDS for name, (dataset, _) in VARIANTS.items()]
    jobs.main(__doc__, "cheaper_architectures", KEYS, every, run)
