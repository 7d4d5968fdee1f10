"""Compares methods of parameter-efficient tuning with full fine-tuning: `python benchmarks/adapt.py DATA [TASK/METHOD/SEED …]`.

DATA is a folder of tasks (docs/tasks.md). Appends a record per task, method and seed to results/adapt.jsonl: trained share, bytes of the
delta and its head on the trunk's folder, score, time and energy of the training. Deltas are kept, not merged. Learning rates are the
same for all tasks; they were not searched. Runs are stored in runs/adapt-…, so an interrupted job continues.
"""

import tempfile
from pathlib import Path
from typing import Any

from jobs import main, make, spent_on

from niwaki.core.files import read_json
from niwaki.models.model import load_folder
from niwaki.run.add_head import add_head
from niwaki.run.plan import Plan, make_plan
from niwaki.run.recipe import parse

# name: task, train rows (None: all), epochs
TASKS: dict[str, tuple[str, int | None, float]] = {
    "cola": ("cola", None, 5),
    "mrpc": ("mrpc", None, 5),
    "mrpc-1000": ("mrpc", 1000, 2),
    "qnli": ("qnli", None, 3),
    "rte": ("rte", None, 5),
    "sst2": ("sst2", 20000, 3),
    "stsb": ("stsb", None, 5),
}
EVERY = ["query", "key", "value", "out", "ffn_in", "ffn_out"]
# name: methods and learning rate
METHODS: dict[str, tuple[list[dict[str, Any]], float]] = {
    "full": ([], 1e-4),
    "head": ([{"use": "freeze", "layers": 6}], 1e-3),
    "bitfit": ([{"use": "bitfit"}], 1e-3),
    "bitfit-partial": ([{"use": "bitfit", "biases": "partial"}], 1e-3),
    "lora": ([{"use": "lora", "merge": False}], 1e-3),
    "lora-all": ([{"use": "lora", "merge": False, "targets": EVERY}], 1e-3),
    "ia3": ([{"use": "ia3", "merge": False}], 5e-3),
    "pfeiffer": ([{"use": "adapters"}], 1e-3),
    "houlsby": ([{"use": "adapters", "placement": "houlsby"}], 1e-3),
    "prefix": ([{"use": "prefix_tuning"}], 5e-3),
    "prompt": ([{"use": "prompt_tuning"}], 1e-2),
    "qlora": ([{"use": "lora", "merge": False}], 1e-3),
}
PACKED = "qlora"  # on a trunk of 4 bits
SEEDS = 3


def plan_of(task: str, method: str, seed: int, data: str) -> Plan:
    name, rows, epochs = TASKS[task]
    methods, rate = METHODS[method]
    train = {"epochs": epochs, "batch": 32, "lr": rate}
    packed = [{"name": "packed", "methods": [{"use": "rtn", "bits": 4}]}] if method == PACKED else []
    recipe = {
        "model": "minilm",
        "task": name,
        "data": {"path": data, **({"rows": rows} if rows else {})},
        "quantize": [],
        "seed": seed,
        "baselines": False,
        "stages": [*packed, {"name": "tuned", "methods": methods, "train": train}],
    }
    return make_plan(parse(recipe), f"adapt-{task}-{method}-{seed}")


def run(task: str, method: str, seed: int, data: str) -> dict[str, Any]:
    plan, folder = plan_of(task, method, seed, data), Path("runs") / f"adapt-{task}-{method}-{seed}"
    make(plan, folder)
    stage = plan.stages[-1]
    result = read_json(folder / stage.folder / "result.json")
    return {
        "task": task,
        "method": method,
        "seed": seed,
        "metric": plan.task.metric,
        "rows": {part: table.num_rows for part, table in plan.task.splits().items()},
        "stages": [one.to_json() for one in plan.stages],
        "score": result["score"],
        "training": result["training"],
        "model_bytes": (folder / stage.folder / "model" / "model.safetensors").stat().st_size,
        "delta_bytes": delta_bytes(plan, folder) if method != "full" else None,
        "spent": spent_on(stage, folder),
    }


def delta_bytes(plan: Plan, folder: Path) -> int:
    """Of the delta with its head, as `niwaki.add_head` stores it."""
    with tempfile.TemporaryDirectory() as place:
        trunk = Path(place) / "trunk"
        trunk.mkdir()
        packed = len(plan.stages) > 1
        model = (
            load_folder(folder / plan.stages[0].folder / "model")
            if packed
            else load_folder(plan.model_folder, plan.task.head)
        )
        model.save(trunk)
        home = add_head(trunk, folder / plan.stages[-1].folder / "model", "task")
        return (home / "head.safetensors").stat().st_size


if __name__ == "__main__":
    jobs = [(task, method, seed) for task in TASKS for seed in range(SEEDS) for method in METHODS]
    main(__doc__, "adapt", ("task", "method", "seed"), jobs, run)
