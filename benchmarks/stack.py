"""Runs compression methods alone, on a distilled student, and in every order: `python benchmarks/stack.py DATA [kind[/name[/task[/seed]]] …]`.

Teachers and the student `half` are those of benchmarks/distil.py; stages are stored with its own in runs/distil-….
Appends a record per kind, name, task and seed to results/stack.jsonl; existing ones are skipped. `--list` shows all jobs.
"""

import itertools
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import shipped
from distil import teacher_of
from distil_variants import HALF, two_phases
from jobs import both, home, main, make, raced, stages_of

from niwaki.core.files import read_json
from niwaki.evaluate.glue import task_score
from niwaki.evaluate.quality import difference
from niwaki.run.plan import Plan, make_plan
from niwaki.run.recipe import parse

Stage = dict[str, Any]
TASKS = ("rotten_tomatoes", "mrpc")

LOGITS = {"use": "logits", "temperature": 1.0, "weight": 1.0}
RECOVER = {"epochs": 1.0, "lr": 5e-5, "dropout": 0.0}  # after pruning the teacher
RECOVER_STUDENT = {
    "epochs": 1.0,
    "lr": 1e-4,
    "dropout": 0.0,
}  # after pruning the student, which is smaller and learns faster
ROUND = {"epochs": 2.0, "lr": 2e-4, "dropout": 0.0}  # for weights with few levels


def cut(*methods: Stage, train: Stage = RECOVER) -> Stage:
    """A stage that compresses and then recovers with the teacher's logits."""
    return {"methods": [*methods, LOGITS], "teacher": "teacher", "train": train}


def bare(*methods: Stage) -> Stage:
    """A stage without training."""
    return {"methods": [*methods]}


def use(name: str, **settings: Any) -> Stage:
    return {"use": name, **settings}


ALONE = {  # methods at two strengths, on the teacher
    "magnitude-50": [cut(use("magnitude", sparsity=0.5))],
    "magnitude-80": [cut(use("magnitude", sparsity=0.8))],
    "movement-50": [cut(use("movement", sparsity=0.5))],
    "movement-80": [cut(use("movement", sparsity=0.8))],
    "nm-2-4": [cut(use("nm", n=2, m=4))],
    "nm-1-4": [cut(use("nm", n=1, m=4))],
    "heads-67": [cut(use("heads", keep=0.67))],
    "heads-33": [cut(use("heads", keep=0.33))],
    "ffn-50": [cut(use("ffn", keep=0.5))],
    "ffn-25": [cut(use("ffn", keep=0.25))],
    "layers-4": [cut(use("layers", count=4))],
    "layers-2": [cut(use("layers", count=2))],
    "hidden_size-75": [cut(use("hidden_size", keep=0.75))],
    "hidden_size-50": [cut(use("hidden_size", keep=0.5))],
    "l0-60": [cut(use("l0", target=0.6), train={**RECOVER, "epochs": 2.0})],
    "l0-40": [cut(use("l0", target=0.4), train={**RECOVER, "epochs": 2.0})],
    "joint-60": [cut(use("joint", target=0.6), train={**RECOVER, "epochs": 2.0})],
    "joint-40": [cut(use("joint", target=0.4), train={**RECOVER, "epochs": 2.0})],
    "blocks-75": [cut(use("blocks", keep=0.75))],
    "blocks-50": [cut(use("blocks", keep=0.5))],
    "vocabulary-1": [bare(use("vocabulary"))],
    "vocabulary-3": [cut(use("vocabulary", min_count=3))],
    "int8": [bare(use("int8"))],
    "int8-matrices": [bare(use("int8", embeddings=False))],
    "static": [bare(use("static"))],
    "qat-8": [cut(use("qat", bits=8))],
    "qat-4": [cut(use("qat", bits=4))],
    "rtn-4": [bare(use("rtn", bits=4))],
    "rtn-3": [bare(use("rtn", bits=3))],
    "rtn-2": [bare(use("rtn", bits=2))],
    "gptq-4": [bare(use("gptq", bits=4))],
    "gptq-3": [bare(use("gptq", bits=3))],
    "gptq-2": [bare(use("gptq", bits=2))],
    "ternary": [cut(use("ternary"), train=ROUND)],
    "ternary-matrices": [cut(use("ternary", embeddings=False), train=ROUND)],
    "binary": [cut(use("binary"), train=ROUND)],
    "binary-matrices": [cut(use("binary", embeddings=False), train=ROUND)],
    "share-3": [cut(use("share", groups=3))],
    "share-2": [cut(use("share", groups=2))],
    "embeddings-192": [cut(use("embeddings", width=192))],
    "embeddings-96": [cut(use("embeddings", width=96))],
    "svd-60": [cut(use("svd", keep=0.6))],
    "svd-35": [cut(use("svd", keep=0.35))],
    "kronecker-50": [cut(use("kronecker", keep=0.5))],
    "kronecker-25": [cut(use("kronecker", keep=0.25))],
}

WORDS = bare(use("vocabulary"))
# recipes that were chosen from these combinations; the benchmark runs their stages
NARROW, GPTQ_4 = (shipped.stage("narrow", name) for name in ("narrow", "gptq"))
TERSE, QAT_2 = (shipped.stage("terse", name) for name in ("terse", "qat"))
SLIM, INT8 = (shipped.stage("slim", name) for name in ("slim", "int8"))
STACKS = {  # each on the distilled student
    "words": [WORDS],
    "words+int8": [WORDS, bare(use("int8"))],
    "words+static": [WORDS, bare(use("static"))],
    "words+rtn-4": [WORDS, bare(use("rtn", bits=4))],
    "words+gptq-4": [WORDS, bare(use("gptq", bits=4))],
    "words+gptq-3": [WORDS, bare(use("gptq", bits=3))],
    "words+qat-4": [WORDS, cut(use("qat", bits=4), train=RECOVER_STUDENT)],
    "words+ternary": [WORDS, cut(use("ternary"), train=ROUND)],
    "words+binary": [WORDS, cut(use("binary"), train=ROUND)],
    "narrow+int8": [NARROW, bare(use("int8"))],
    "narrow+gptq-4": [NARROW, GPTQ_4],
    "narrow+ternary": [NARROW, cut(use("ternary"), train=ROUND)],
    "slim+int8": [SLIM, INT8],
    "slim+gptq-4": [SLIM, bare(use("gptq", bits=4))],
    "words+svd+int8": [WORDS, cut(use("svd", keep=0.5), train=RECOVER_STUDENT), bare(use("int8"))],
    "words+share+int8": [WORDS, cut(use("share", groups=2), train=RECOVER_STUDENT), bare(use("int8"))],
    "words+magnitude+int8": [WORDS, cut(use("magnitude", sparsity=0.8), train=RECOVER_STUDENT), bare(use("int8"))],
    "words+magnitude+rtn-4": [
        WORDS,
        cut(use("magnitude", sparsity=0.8), train=RECOVER_STUDENT),
        bare(use("rtn", bits=4)),
    ],
    "narrow+gptq-3": [NARROW, bare(use("gptq", bits=3))],
    "terse+ternary": [TERSE, cut(use("ternary"), train=ROUND)],
    "terse+ternary-long": [TERSE, cut(use("ternary"), train={**ROUND, "epochs": 6.0, "augmentations": 1})],
    "terse+qat-2": [TERSE, QAT_2],
    "terse+share+gptq-4": [TERSE, cut(use("share", groups=1), train=ROUND), bare(use("gptq", bits=4))],
    "narrow+share+gptq-4": [NARROW, cut(use("share", groups=2), train=RECOVER_STUDENT), bare(use("gptq", bits=4))],
}
AVERAGING = {
    "methods": [use("vocabulary"), use("averaging"), LOGITS],
    "teacher": "teacher",
    "train": {"epochs": 12.0, "lr": 2e-3},
}
TINY = {"averaging+int8": [AVERAGING, bare(use("int8"))], "averaging+rtn-4": [AVERAGING, bare(use("rtn", bits=4))]}
STEPS = {  # every order ends in the same shape
    "distil": {
        "methods": [use("student", layers=3), LOGITS],
        "teacher": "teacher",
        "train": {"epochs": 3.0, "lr": 2e-4, "dropout": 0.0},
    },
    "prune": cut(use("ffn", keep=0.5), use("heads", keep=0.67), train=RECOVER_STUDENT),
    "quantize": cut(use("qat", bits=8), train=RECOVER_STUDENT),
}
ORDERS = {"-".join(order): [STEPS[name] for name in order] for order in itertools.permutations(STEPS)}
AGAIN = {"epochs": 3.0, "lr": 1e-4, "dropout": 0.0}  # after removing half of the teacher
SPEED = {  # half of the teacher's operations; `magnitude` gives a file as large as `ffn+heads`
    "ffn+heads": [cut(use("ffn", keep=0.5), use("heads", keep=0.5), train=AGAIN)],
    "layers-3": [cut(use("layers", count=3), train=AGAIN)],
    "blocks": [cut(use("blocks", keep=0.5), train=AGAIN)],
    "joint": [cut(use("joint", target=0.5), train=AGAIN)],
    "svd": [cut(use("svd", keep=0.5), train=AGAIN)],
    "magnitude": [cut(use("magnitude", sparsity=0.53), train=AGAIN)],
}
FIRST_ORDER = next(iter(ORDERS))
BEST = ("words+gptq-4", "narrow+int8", "narrow+gptq-4", "slim+int8", "terse+ternary")  # also on SST-2
SHARE = {"sst2": 1 / 3}  # of the epochs: it has ten times the rows
KINDS = {"alone": ALONE, "stack": STACKS, "tiny": TINY, "order": ORDERS, "speed": SPEED}


def planned(kind: str, name: str, task: str, seed: int, data: str) -> Plan:
    """The unchanged teacher, for combinations the distilled student, then the stages."""
    share = SHARE.get(task, 1.0)
    before = two_phases(task, HALF, epochs=3.0 * share) if kind == "stack" else []
    own = [{**shortened(stage, share), "name": f"step-{number}"} for number, stage in enumerate(KINDS[kind][name])]
    stages = [{"name": "teacher"}, *before, *own]
    rows = {} if task == "rotten_tomatoes" else {"path": data}
    recipe = {
        "model": str(teacher_of("half", task, seed)),
        "task": task,
        "data": rows,
        "seed": seed,
        "quantize": [],
        "stages": stages,
    }
    return make_plan(parse(recipe), name)


def shortened(stage: Stage, share: float) -> Stage:
    return (
        {**stage, "train": {**stage["train"], "epochs": share * stage["train"]["epochs"]}}
        if "train" in stage
        else stage
    )


def run_stages(kind: str, name: str, task: str, seed: int, data: str) -> Plan:
    plan = planned(kind, name, task, seed, data)
    make(plan, home(task, seed))
    return plan


def run(kind: str, name: str, task: str, seed: int, data: str) -> dict[str, Any]:
    """For an order, first runs the one that it is compared with."""
    others = (
        [run_stages(kind, FIRST_ORDER, task, earlier, data) for earlier in range(seed + 1)] if kind == "order" else []
    )
    plans = [run_stages(kind, name, task, earlier, data) for earlier in range(seed + 1)] if others else []
    plan = plans[-1] if plans else run_stages(kind, name, task, seed, data)
    pair = {"over_first": difference(plan.task, example_stats(plans), example_stats(others))} if others else {}
    return {"kind": kind, "name": name, "task": task, "seed": seed, **summary(plan, home(task, seed)), **pair}


def example_stats(plans: list[Plan]) -> list[np.ndarray]:
    """Statistics of the test rows from the last stage of each plan."""
    return [
        np.load(
            home(plan.recipe.task, plan.recipe.seed) / plan.stages[-1].folder / "example_stats.npy", allow_pickle=False
        )
        for plan in plans
    ]


def summary(plan: Plan, folder: Path) -> dict[str, Any]:
    """The last stage compared with the float teacher, both in ONNX Runtime."""
    folders, laps = both(plan, folder), raced(plan, folder)
    results = [read_json(one / "result.json") for one in folders]
    before, after = (np.load(one / "example_stats.npy", allow_pickle=False) for one in folders)
    return {
        "metric": plan.task.metric,
        "scores": [task_score(result) for result in results],
        "over_teacher": difference(plan.task, [after], [before]),
        "bytes": [result["bytes"] for result in results],
        "weights": [(one / "model" / "model.safetensors").stat().st_size for one in folders],
        "flops": [result["flops"] for result in results],
        "parity": results[1]["parity"],
        "faster": laps["made"]["ratio"],
        "latency_ms": [laps[name]["latency_ms"]["p50"] for name in ("teacher", "made")],
        **stages_of(plan, folder),
    }


def everything() -> Iterable[tuple[str, str, str, int]]:
    yield from (("stack", name, task, 0) for name in STACKS for task in TASKS)
    yield from (("tiny", name, task, 0) for name in TINY for task in TASKS)
    yield from (("speed", name, task, 0) for name in SPEED for task in TASKS)
    yield from (("alone", name, "rotten_tomatoes", 0) for name in ALONE)
    yield from (("order", name, task, seed) for seed in (0, 1, 2) for name in ORDERS for task in TASKS)
    yield from (
        (kind, name, task, seed)
        for seed in (1, 2)
        for kind in ("stack", "tiny", "speed")
        for name in KINDS[kind]
        for task in TASKS
    )
    yield from (("stack", name, "sst2", 0) for name in BEST)


if __name__ == "__main__":
    main(__doc__, "stack", ("kind", "name", "task", "seed"), everything(), run)
