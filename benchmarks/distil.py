"""Students of every shape against their teachers: `python benchmarks/distil.py DATA [variant[/task[/seed]] …]`.

DATA is a folder of tasks (docs/tasks.md). Teachers are those that benchmarks/glue.py and benchmarks/demo.py left in runs/ (run
these first). Appends a record per variant, task and seed to results/distil.jsonl; stages lie in runs/distil-…, and what
is there already is not made again. `--list` shows what there is.
"""

import argparse
import json
from pathlib import Path
from typing import Any

from records import append, circumstances, read

from niwaki.core.files import read_json
from niwaki.core.lock import locked
from niwaki.engines.predictor import Predictor
from niwaki.evaluate.glue import task_score
from niwaki.evaluate.speed import race
from niwaki.meter import meter
from niwaki.meter.ledger import Ledger
from niwaki.models.model import load_folder
from niwaki.run.plan import Plan, make_plan
from niwaki.run.recipe import parse
from niwaki.run.runner import quiet_libraries, run_stage

TASKS = ("rotten_tomatoes", "mrpc", "cola", "rte", "stsb", "sst2")
SEEDS = {"rotten_tomatoes": (0, 1, 2), "mrpc": (0, 1, 2)}  # elsewhere one
ABLATED = ("rotten_tomatoes", "mrpc")
RACE_TEXTS = 192
Stage = dict[str, Any]

HALF = {"use": "student", "layers": 3, "ffn": 752}  # half the layers, just under a third of the encoder's parameters
FAST = {"use": "student", "layers": 2, "heads": 6, "ffn": 384}
LAYERS = [{"use": "tinybert", "prediction": 0.0}]
RELATED = [{"use": "tinybert", "prediction": 0.0, "attention": 0.0}, {"use": "relations"}]  # for other numbers of heads
EPOCHS = {"sst2": 2.0}  # of each phase
COPIES = {"rotten_tomatoes": 1, "sst2": 0}  # elsewhere as many: of every row, with words replaced
TRANSFER = {"rotten_tomatoes": 5_000}


def two_phases(task: str, student: Stage, layers: list[Stage] | None = None, copies: int | None = None, transfer: int | None = None) -> list[Stage]:  # fmt: skip
    """As TinyBERT: first the layers, then the answers."""
    epochs = EPOCHS.get(task, 3.0)
    more = {
        "augment": COPIES.get(task, 1) if copies is None else copies,
        "transfer": TRANSFER.get(task, 0) if transfer is None else transfer,
    }
    train = {"lr": 2e-4, "dropout": 0.0, **more}
    first = {"name": "layers", "teacher": "teacher", "methods": [student, *(layers or LAYERS)], "train": {**train, "epochs": epochs}}  # fmt: skip
    logits = {"use": "logits", "temperature": 1.0, "weight": 1.0}
    second = {"name": "student", "teacher": "teacher", "methods": [logits], "train": {**train, "epochs": epochs, "lr": 1e-4}}  # fmt: skip
    return [first, second]


def one_phase(task: str, student: Stage, **more: Any) -> list[Stage]:
    """Without the layers' phase; as many epochs in all."""
    _, last = two_phases(task, student, **more)
    return [{**last, "methods": [student, *last["methods"]], "train": {**last["train"], "epochs": 2 * last["train"]["epochs"], "lr": 2e-4}}]  # fmt: skip


def without(*losses: str) -> list[Stage]:
    return [{**LAYERS[0], **dict.fromkeys(losses, 0.0)}]


VARIANTS = {
    "half": lambda task: two_phases(task, HALF),
    "fast": lambda task: two_phases(task, FAST, RELATED),
    "half-labels": lambda task: [
        {"name": "student", "methods": [HALF], "train": {"lr": 2e-4, "epochs": 2 * EPOCHS.get(task, 3.0)}}
    ],
    "half-logits": lambda task: one_phase(task, HALF),
    "half-no-embedding": lambda task: two_phases(task, HALF, without("embedding")),
    "half-no-hidden": lambda task: two_phases(task, HALF, without("hidden")),
    "half-no-attention": lambda task: two_phases(task, HALF, without("attention")),
    "half-fresh": lambda task: two_phases(task, {**HALF, "start": "fresh"}),
    "half-no-transfer": lambda task: two_phases(task, HALF, transfer=0),
    "half-no-copies": lambda task: two_phases(task, HALF, copies=0),
    "half-rows-only": lambda task: two_phases(task, HALF, copies=0, transfer=0),
}


def teacher_of(task: str, seed: int) -> Path:
    """The fine-tuned model that an earlier command left."""
    home = Path("runs") / (f"demo-seed-{seed}" if task == "rotten_tomatoes" else f"glue-minilm-{task}")
    plan = read_json(home / "plan.json")
    stages = plan["stages"] if plan["seed"] == seed else next(one["stages"] for one in plan["repeats"] if one["seed"] == seed)  # fmt: skip
    return home / next(stage["folder"] for stage in stages if stage["name"] == "teacher") / "model"


def planned(variant: str, task: str, seed: int, data: str) -> Plan:
    """The teacher as it is, then the stages of the variant."""
    rows = {} if task == "rotten_tomatoes" else {"path": data}
    stages = [{"name": "teacher"}, *VARIANTS[variant](task)]
    return make_plan(parse({"model": str(teacher_of(task, seed)), "task": task, "data": rows, "seed": seed, "stages": stages}), variant)  # fmt: skip


def run(variant: str, task: str, seed: int, data: str) -> dict[str, Any]:
    folder = Path("runs") / f"distil-{task}-{seed}"
    with locked(folder):
        plan, ledger = planned(variant, task, seed, data), Ledger(folder / "ledger.jsonl")
        (folder / "stages").mkdir(exist_ok=True)
        for stage in plan.stages:
            run_stage(plan, stage, folder, ledger, lambda: False)
    return {"variant": variant, "task": task, "seed": seed, **summary(plan, folder)}


def summary(plan: Plan, folder: Path) -> dict[str, Any]:
    teacher, student = (folder / plan.stages[place].folder for place in (0, -1))
    results = [read_json(one / "result.json") for one in (teacher, student)]
    texts = plan.task.inputs(plan.task.splits()["test"].slice(0, RACE_TEXTS))
    engines = {name: Predictor(one / "model").values for name, one in (("teacher", teacher), ("student", student))}
    laps = race(engines, texts, reference="teacher", window=meter)["contenders"]
    return {
        "metric": plan.task.metric,
        "scores": {name: task_score(result) for name, result in zip(("teacher", "student"), results, strict=True)},
        "encoder": [encoder_parameters(one / "model") for one in (teacher, student)],
        "bytes": [result["bytes"] for result in results],
        "flops": [result["flops"] for result in results],
        "faster": laps["student"]["ratio"],
        "stages": [json.loads(json.dumps(stage.to_json())) for stage in plan.stages[1:]],
        "spent": [{key: read_json(folder / stage.folder / "result.json")["spent"][key] for key in ("seconds", "cpu_seconds", "joules", "tier")} for stage in plan.stages[1:]],
    }  # fmt: skip


def encoder_parameters(folder: Path) -> int:
    """Numbers in the layers: without embeddings and head."""
    anatomy = load_folder(folder).anatomy
    return sum(parameter.numel() for layer in anatomy.layers for parameter in layer.module.parameters())


def everything() -> list[tuple[str, str, int]]:
    chosen = [(variant, task, seed) for seed in (0, 1, 2) for variant in ("half", "fast") for task in TASKS if seed in SEEDS.get(task, (0,))]  # fmt: skip
    rest = [name for name in VARIANTS if name not in ("half", "fast")]
    return chosen + [(variant, task, seed) for seed in (0, 1, 2) for task in ABLATED for variant in rest]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--list", action="store_true")
    given = parser.parse_args()
    known = {"/".join(map(str, job)): job for job in everything()}
    wanted = [
        name for name in known if not given.names or any(f"{name}/".startswith(f"{some}/") for some in given.names)
    ]
    if given.list:
        raise SystemExit("\n".join(wanted))
    quiet_libraries()
    done = {f"{row['variant']}/{row['task']}/{row['seed']}" for row in read("distil")}
    for name in wanted:
        if name not in done:
            append("distil", {**run(*known[name], given.data), **circumstances()})
