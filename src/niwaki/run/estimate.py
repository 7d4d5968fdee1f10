"""What a plan will take: time from a quick measurement of this machine, work and disk from the shapes that its stages train and
leave. Rough, and said so."""

import time
from collections.abc import Iterable
from typing import Any

import numpy as np

from niwaki.evaluate.footprint import flops
from niwaki.models.insides import LOGITS, numbers
from niwaki.models.model import WEIGHTS, Model
from niwaki.models.ties import distinct
from niwaki.run.plan import ORIGIN, Plan, PlannedStage
from niwaki.run.texts import count
from niwaki.tasks._task import Task

TOKENS_PER_WORD = 1.35
UTILISATION = 0.5  # of a large product's speed; what training steps reached on the machines we tried
UPDATES = 2.5e8  # numbers that the optimizer changes in a second
EVALUATION_SECONDS = 10.0  # export, test set, intervals
COPY_SECONDS = 5.0  # the same of a quantized copy, which runs faster
FORWARD_AND_BACK = 3  # a step takes as many passes


def estimate(plan: Plan) -> dict[str, Any]:
    """Per stage and in all: steps, seconds, megabytes."""
    shapes, tokens, speed = plan.shapes, tokens_of(plan.task), UTILISATION * products_per_second()
    passed = {name: flops(both.trained, tokens) / speed for name, both in shapes.items()}  # seconds of a text
    beside = sum(_bytes(plan, name) for name in ORIGIN if name != WEIGHTS)
    disk = {name: (weights_bytes(both.made) + beside) / 1e6 for name, both in shapes.items()}
    stages = []
    for stage in plan.stages:
        name, trained = stage.spec.name, shapes[stage.spec.name].trained
        rows, steps, validated = work(plan.task, stage)
        texts = FORWARD_AND_BACK * steps * stage.spec.train.batch + validated if stage.spec.train else 0
        seconds = (
            texts * passed[name]
            + steps * trained.parameters() / UPDATES
            + (COPY_SECONDS if stage.copy_of else EVALUATION_SECONDS)
        )
        for teacher in () if stage.heard else stage.spec.teachers:
            seconds += rows * passed[teacher]
        stages.append({
            "name": name, "methods": stage.to_json()["methods"], "rows": rows, "steps": steps,
            "seconds": round(seconds), "megabytes": round(disk[name]),
        })  # fmt: skip
    state = 8 * max(weights_bytes(both.trained) for both in shapes.values()) / 1e6  # of the largest, while it trains
    return {
        "stages": stages,
        "teachers_megabytes": cache_bytes(plan, plan.stages) / 1e6,
        "seconds": sum(stage["seconds"] for stage in stages) * (1 + len(plan.repeats)),
        "megabytes": sum(disk.values()) * (1 + len(plan.repeats)) + state,
    }


def cache_bytes(plan: Plan, stages: Iterable[PlannedStage]) -> int:
    """What the teacher cache holds for these stages, at most; a stage that reads what another one's teacher said adds nothing."""
    shapes, tokens, found = plan.shapes, tokens_of(plan.task), 0.0
    for stage in stages:
        trained, rows = shapes[stage.spec.name].trained, work(plan.task, stage)[0]
        for teacher in () if stage.heard else stage.spec.teachers:
            found += rows * shown_bytes(stage, trained, shapes[teacher].made, tokens)
    return round(min(found, 1e9 * plan.recipe.cache.gigabytes))


def work(task: Task, stage: PlannedStage) -> tuple[int, int, int]:
    """Rows that are trained on, steps, and rows that are validated in all."""
    train, splits = stage.spec.train, task.splits()
    if train is None:
        return 0, 0, 0
    rows = splits["train"].num_rows * (train.labelled + train.augment) + count(task, stage.spec)
    validated = splits["validation"].num_rows * train.validations * train.epochs
    return rows, round(train.epochs * -(-rows // train.batch)), round(validated)


def tokens_of(task: Task) -> int:
    """Of a text of the task, on average."""
    few = task.splits()["train"].slice(0, 1000)
    words = sum(len(text.split()) for text in task.texts(few)) / few.num_rows
    return round(min(task.max_tokens, TOKENS_PER_WORD * words + 2))


def shown_bytes(stage: PlannedStage, student: Model, teacher: Model, tokens: int) -> float:
    """What a teacher shows of one text, and is kept; of one that writes nothing is."""
    if teacher.anatomy.writes:
        return 0.0
    asked = {LOGITS}.union(*(method.asks(student, teacher) for method in stage.methods))
    return 4.0 * sum(int(numbers(teacher.anatomy, name, np.array([tokens]))[0]) for name in asked)


def weights_bytes(model: Model) -> int:
    return sum(value.numel() * value.element_size() for value in distinct(model.network).values())


def _bytes(plan: Plan, name: str) -> int:
    path = plan.largest / name
    return path.stat().st_size if path.is_file() else 0


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
