"""What a plan will take: processor time from a quick measurement of one core, work and disk from the shapes that its stages train
and leave. Other programs on the machine change how long a run takes and not how much processor time it needs, so that is what is
estimated; the time it will take follows from the cores and from how busy they are. Rough, and given as a range."""

import os
import statistics
import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from niwaki.evaluate.footprint import flops
from niwaki.methods._method import followed_activations
from niwaki.models.activations import LOGITS, numbers
from niwaki.models.model import WEIGHTS, Model
from niwaki.models.ties import unique_tensors
from niwaki.run.plan import MODEL_FILES, Plan, PlannedStage
from niwaki.run.unlabelled_texts import count
from niwaki.tasks._task import Task

TOKENS_PER_WORD = 1.35
# All seconds are of one core. For the recipe rotten_tomatoes the sum is within a fifth of what the ledger of its run charges.
UTILISATION = 0.7  # of a large product's speed
UPDATES = 2.5e8  # numbers that the optimizer changes in a second
EVALUATION_SECONDS = 5.0  # export, test set, intervals
COPY_SECONDS = 2.5  # the same of a quantized copy, which runs faster
RACE_SECONDS = 8.0  # a contender
SPREAD = 1.6  # times that an estimate may be too high or too low
LAPS = 12
FORWARD_AND_BACK = 3  # a step takes as many passes


def estimate(plan: Plan) -> dict[str, Any]:
    """Per stage and in all: steps, processor time, megabytes; and the range of the time that the run will take."""
    shapes, tokens, speed = plan.shapes, tokens_of(plan.task), UTILISATION * products_per_cpu_second()
    busy = {plan.stages[0].spec.name}.union(
        *([one.spec.name, *one.spec.teachers] for one in plan.stages if one.spec.train)
    )
    passed = {name: flops(shapes[name].trained, tokens) / speed for name in busy}  # seconds of a text
    beside = sum(_bytes(plan, name) for name in MODEL_FILES if name != WEIGHTS)
    disk = {name: (weights_bytes(both.finished) + beside) / 1e6 for name, both in shapes.items()}
    stages = []
    for stage in plan.stages:
        name, trained = stage.spec.name, shapes[stage.spec.name].trained
        rows, steps, validated = work(plan.task, stage)
        texts = FORWARD_AND_BACK * steps * stage.spec.train.batch + validated if stage.spec.train else 0
        seconds = (
            texts * passed.get(name, 0)
            + steps * trained.parameters() / UPDATES
            + (COPY_SECONDS if stage.copy_of else EVALUATION_SECONDS)
        )
        for teacher in stage.spec.teachers if stage.spec.train and not stage.teacher_cached else ():
            seconds += rows * passed[teacher]
        stages.append(
            {
                "name": name,
                "methods": stage.to_json()["methods"],
                "rows": rows,
                "steps": steps,
                "cpu_seconds": round(seconds),
                "megabytes": round(disk[name]),
            }
        )
    state = 8 * max(weights_bytes(both.trained) for both in shapes.values()) / 1e6  # of the largest, while it trains
    comparing = comparing_seconds(plan, passed[plan.stages[0].spec.name])
    made = sum(stage["cpu_seconds"] for stage in stages) * (1 + len(plan.repeats))
    return {
        "stages": stages,
        "teachers_megabytes": cache_bytes(plan, plan.stages) / 1e6,
        "comparing_cpu_seconds": round(comparing),
        **times(made + comparing, len(os.sched_getaffinity(0)), os.getloadavg()[0]),
        "megabytes": sum(disk.values()) * (1 + len(plan.repeats)) + state,
    }


def cache_bytes(plan: Plan, stages: Iterable[PlannedStage]) -> int:
    """What the teacher cache holds for these stages, at most; a stage that reads what another one's teacher said adds nothing."""
    shapes, tokens, found = plan.shapes, tokens_of(plan.task), 0.0
    for stage in stages:
        trained, rows = shapes[stage.spec.name].trained, work(plan.task, stage)[0]
        for teacher in () if stage.teacher_cached else stage.spec.teachers:
            found += rows * teacher_output_bytes(stage, trained, shapes[teacher].finished, tokens)
    return round(min(found, 1e9 * plan.recipe.cache.gigabytes))


def comparing_seconds(plan: Plan, passed: float) -> float:
    """Of baselines, of which the frozen encoder, which reads all rows, takes the most, and of the race of all stages and the
    reference. `passed` is what the first model takes for a text."""
    rows = sum(table.num_rows for table in plan.task.splits().values())
    return rows * passed + RACE_SECONDS * (1 + len(plan.stages))


def times(cpu_seconds: float, cores: int, load: float) -> dict[str, Any]:
    """Ranges of processor time and of the time by the clock. At best all cores work for the run; at worst it shares them with what
    runs now, as fairly as the system does."""
    low, high = cpu_seconds / SPREAD, cpu_seconds * SPREAD
    share = cores * cores / (cores + load) if load > cores / 4 else cores
    return {
        "cpu_seconds": round(cpu_seconds),
        "cpu_seconds_range": [round(low), round(high)],
        "seconds_range": [round(low / cores), round(high / max(share, 0.05))],
        "cores": cores,
        "load": round(load, 1),
    }


def work(task: Task, stage: PlannedStage) -> tuple[int, int, int]:
    """Rows that are trained on, steps, and rows that are validated in all."""
    train, splits = stage.spec.train, task.splits()
    if train is None:
        return 0, 0, 0
    rows = splits["train"].num_rows * (train.labelled + train.augmentations) + count(task, stage.spec)
    validated = splits["validation"].num_rows * train.validations * train.epochs
    return rows, round(train.epochs * -(-rows // train.batch)), round(validated)


def tokens_of(task: Task) -> int:
    """Of a text of the task, on average."""
    few = task.splits()["train"].slice(0, 1000)
    words = sum(len(text.split()) for text in task.texts(few)) / few.num_rows
    return round(min(task.max_tokens, TOKENS_PER_WORD * words + 2))


def teacher_output_bytes(stage: PlannedStage, student: Model, teacher: Model, tokens: int) -> float:
    """What a teacher shows of one text, and is kept; of one that writes nothing is."""
    if teacher.anatomy.is_seq2seq:
        return 0.0
    asked = {LOGITS} | followed_activations(stage.methods, student, teacher)
    return 4.0 * sum(int(numbers(teacher.anatomy, name, np.array([tokens]))[0]) for name in asked)


def weights_bytes(model: Model) -> int:
    return sum(value.numel() * value.element_size() for value in unique_tensors(model.network).values())


def _bytes(plan: Plan, name: str) -> int:
    path = plan.largest_source / name
    return path.stat().st_size if path.is_file() else 0


def products_per_cpu_second() -> float:
    """Floating-point operations in a second of one core's time, of a product like those of a small encoder, in the precision that
    training would take. The clock of the thread stands still while other programs run."""
    import torch

    from niwaki.train.precision import has_bf16

    kind = torch.bfloat16 if has_bf16() else torch.float32
    left, right = torch.ones(1024, 384, dtype=kind), torch.ones(384, 1536, dtype=kind)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        seconds = statistics.median(_seconds_of(lambda: left @ right) for _ in range(LAPS))
    finally:
        torch.set_num_threads(threads)
    return 2 * 1024 * 384 * 1536 / seconds


def _seconds_of(work: Callable[[], object]) -> float:
    start = time.thread_time()
    work()
    return time.thread_time() - start
