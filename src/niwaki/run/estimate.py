"""What a plan will take: time from a quick measurement of this machine, disk from the size of the model. Rough, and said so."""

import time
from typing import Any

from niwaki.core.files import folder_bytes, read_json
from niwaki.run.plan import Plan, PlannedStage
from niwaki.tasks._task import Task

TOKENS_PER_WORD = 1.35
UTILISATION = 0.3  # of a large product's speed; what training steps reached on the machines we tried
EVALUATION_SECONDS = 10.0  # export, test set, intervals


def estimate(plan: Plan) -> dict[str, Any]:
    """Per stage and in all: steps, seconds, megabytes. An upper bound where methods make the model smaller."""
    config = read_json(plan.largest / "config.json")
    width = config.get("hidden_size", config.get("dim", 768))
    layers = config.get("num_hidden_layers", config.get("n_layers", 12))
    weights = layers * (4 * width**2 + 2 * width * config.get("intermediate_size", config.get("hidden_dim", 4 * width)))
    train = plan.task.splits()["train"]
    few = train.slice(0, 1000)
    words = sum(len(text.split()) for text in plan.task.texts(few)) / few.num_rows
    tokens = min(plan.task.max_tokens, TOKENS_PER_WORD * words + 2)
    speed = products_per_second() * UTILISATION
    megabytes = folder_bytes(plan.largest) / 1e6
    heads = config.get("num_attention_heads", config.get("n_heads", 12))
    insides = 4 * (
        tokens * width * (layers + 1) + tokens**2 * heads * layers
    )  # bytes of a text, were all layers asked for
    unlabelled = type(plan.task).transfer_texts is not Task.transfer_texts  # a task that has none adds none
    stages = [_stage(stage, train.num_rows, unlabelled, tokens, weights, speed, megabytes) for stage in plan.stages]
    kept = [done["rows"] * insides / 1e6 for stage, done in zip(plan.stages, stages, strict=True) if any(method.needs for method in stage.methods)]  # fmt: skip
    return {
        "stages": stages,
        "teachers_megabytes": min(sum(kept), 1000 * plan.recipe.cache.gigabytes),
        "seconds": sum(stage["seconds"] for stage in stages) * (1 + len(plan.repeats)),
        "megabytes": sum(stage["megabytes"] for stage in stages) + 8 * megabytes,  # and the training state of one
    }


def _stage(
    stage: PlannedStage, rows: int, unlabelled: bool, tokens: float, weights: int, speed: float, megabytes: float
) -> dict[str, Any]:
    train = stage.spec.train
    done = {
        "name": stage.spec.name,
        "methods": stage.to_json()["methods"],
        "steps": 0,
        "rows": 0,
        "seconds": EVALUATION_SECONDS,
        "megabytes": round(megabytes),
    }
    if train is None:
        return done
    all_rows = rows * (train.labelled + train.augment) + (train.transfer if unlabelled or train.texts else 0)
    flops = 6 * weights * tokens * all_rows * train.epochs + (
        2 * weights * tokens * all_rows * len(stage.spec.teachers)
    )
    return {
        **done,
        "rows": all_rows,
        "steps": round(train.epochs * -(-all_rows // train.batch)),
        "seconds": round(flops / speed + EVALUATION_SECONDS),
    }


def products_per_second() -> float:
    """Floating-point operations a second of a product like those of a small encoder, in the precision training would take."""
    import torch

    from niwaki.train.precision import has_bf16

    kind = torch.bfloat16 if has_bf16() else torch.float32
    left, right = torch.ones(1024, 384, dtype=kind), torch.ones(384, 1536, dtype=kind)
    left @ right
    start = time.perf_counter()
    for _ in range(20):
        left @ right
    return 20 * 2 * 1024 * 384 * 1536 / (time.perf_counter() - start)
