"""Estimates what a plan needs: CPU time from a quick measurement of one core, work and disk space from the shapes of its stages.

Other programs change how long a run takes but not how much CPU time it needs, so CPU time is estimated; wall time follows from the
number of cores and their load. Estimates are rough and given as ranges.
"""

import statistics
import time
from collections.abc import Callable, Iterable

import numpy as np

from niwaki.core.json_types import Json
from niwaki.core.system import load_average, usable_cores
from niwaki.evaluate.footprint import flops
from niwaki.methods._method import ContributesLoss, followed_activations, methods_with
from niwaki.models.activations import LOGITS, numbers
from niwaki.models.model import Model
from niwaki.models.stock import WEIGHTS
from niwaki.models.ties import unique_tensors
from niwaki.objectives._factory import make_objective
from niwaki.run.plan import MODEL_FILES, Plan, PlannedStage
from niwaki.run.unlabelled_texts import count
from niwaki.tasks._task import Task

TOKENS_PER_WORD = 1.35
# Seconds of one core. For the recipe rotten_tomatoes the sum is within a fifth of what the ledger of its run charges.
UTILISATION = 0.7  # of a large product's speed
UPDATES = 2.5e8  # parameters that the optimizer updates per second
EVALUATION_SECONDS = 5.0  # export, test set, intervals
COPY_SECONDS = 2.5  # the same for a quantized copy, which runs faster
RACE_SECONDS = 8.0  # per contender
SPREAD = 1.6  # factor by which an estimate may be too high or too low
LAPS = 12
FORWARD_AND_BACK = 3  # cost of a training step in forward passes


def estimate(plan: Plan) -> Json:
    """Steps, CPU time and megabytes, per stage and in total, and the range of the wall time."""
    shapes, first = plan.shapes, plan.stages[0].name
    seconds_per_text = forward_seconds(plan)
    other_files = sum(_bytes(plan, name) for name in MODEL_FILES if name != WEIGHTS)
    disk = {name: (weights_bytes(shape.finished) + other_files) / 1e6 for name, shape in shapes.items()}
    stages = []
    for stage in plan.stages:
        rows, steps, _ = work(plan.task, stage)
        stages.append(
            {
                "name": stage.name,
                "methods": stage.to_json()["methods"],
                "rows": rows,
                "steps": steps,
                "cpu_seconds": round(stage_seconds(plan, stage, seconds_per_text)),
                "megabytes": round(disk[stage.name]),
            }
        )
    checkpoints = 8 * max(weights_bytes(shape.trained) for shape in shapes.values()) / 1e6  # of the largest stage
    comparing = comparing_seconds(plan, seconds_per_text[first])
    making = sum(stage["cpu_seconds"] for stage in stages) * (1 + len(plan.repeats))
    return {
        "stages": stages,
        "teachers_megabytes": cache_bytes(plan, plan.stages) / 1e6,
        "comparing_cpu_seconds": round(comparing),
        **times(making + comparing, usable_cores(), load_average() or 0.0),
        "megabytes": sum(disk.values()) * (1 + len(plan.repeats)) + checkpoints,
    }


def forward_seconds(plan: Plan) -> dict[str, float]:
    """Seconds of a forward pass of one text, for the first stage and all that train or teach."""
    speed, tokens = UTILISATION * products_per_cpu_second(), tokens_of(plan.task)
    training = ([stage.name, *stage.spec.teachers] for stage in plan.stages if stage.spec.train)
    names = {plan.stages[0].name}.union(*training)
    return {name: flops(plan.shapes[name].trained, tokens) / speed for name in names}


def stage_seconds(plan: Plan, stage: PlannedStage, seconds_per_text: dict[str, float]) -> float:
    """CPU seconds of training, validation, the teachers and the evaluation of a stage."""
    rows, steps, validated = work(plan.task, stage)
    train = stage.spec.train
    passes = sum((method.further_passes for method in methods_with(stage.methods, ContributesLoss)), 1.0)
    texts = FORWARD_AND_BACK * passes * steps * train.batch + validated if train else 0
    updates = steps * plan.shapes[stage.name].trained.parameters() / UPDATES
    teachers = stage.spec.teachers if train and not stage.teacher_cached else []
    reading = sum(rows * seconds_per_text[teacher] for teacher in teachers)
    evaluation = COPY_SECONDS if stage.copy_of else EVALUATION_SECONDS
    return texts * seconds_per_text.get(stage.name, 0) + updates + reading + evaluation


def cache_bytes(plan: Plan, stages: Iterable[PlannedStage]) -> int:
    """Upper bound of the teacher cache for these stages. A stage that reuses another one's teacher outputs adds nothing."""
    shapes, tokens, found = plan.shapes, tokens_of(plan.task), 0.0
    for stage in stages:
        trained, rows = shapes[stage.spec.name].trained, work(plan.task, stage)[0]
        for teacher in () if stage.teacher_cached else stage.spec.teachers:
            found += rows * teacher_output_bytes(stage, trained, shapes[teacher].finished, tokens)
    return round(min(found, 1e9 * plan.recipe.cache.gigabytes))


def comparing_seconds(plan: Plan, passed: float) -> float:
    """Of the baselines, dominated by the frozen encoder, which reads all rows, and of the race. `passed` is the time of the first
    model for one text."""
    rows = sum(table.num_rows for table in plan.task.splits().values())
    return rows * passed + RACE_SECONDS * (1 + len(plan.stages))


def times(cpu_seconds: float, cores: int, load: float) -> Json:
    """Ranges of CPU time and wall time. At best the run has all cores; at worst it shares them with the current load."""
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
    """Training rows, steps, and validated rows in total."""
    train, splits = stage.spec.train, task.splits()
    if train is None:
        return 0, 0, 0
    rows = splits["train"].num_rows * (train.labelled + train.augmentations) + count(task, stage.spec)
    validated = splits["validation"].num_rows * train.validations * train.epochs
    read = make_objective(train.objective, task).rows_per_epoch(rows)
    return rows, round(train.epochs * -(-read // train.batch)), round(validated)


def tokens_of(task: Task) -> int:
    """Average tokens of a text of the task."""
    few = task.splits()["train"].slice(0, 1000)
    words = sum(len(text.split()) for text in task.texts(few)) / few.num_rows
    return round(min(task.max_tokens, TOKENS_PER_WORD * words + 2))


def teacher_output_bytes(stage: PlannedStage, student: Model, teacher: Model, tokens: int) -> float:
    """Bytes of the cached teacher outputs for one text. Outputs of seq2seq teachers are not cached."""
    if teacher.anatomy.is_seq2seq:
        return 0.0
    names = {LOGITS} | followed_activations(stage.methods, student, teacher)
    return 4.0 * sum(int(numbers(teacher.anatomy, name, np.array([tokens]))[0]) for name in names)


def weights_bytes(model: Model) -> int:
    return sum(value.numel() * value.element_size() for value in unique_tensors(model.network).values())


def _bytes(plan: Plan, name: str) -> int:
    path = plan.largest_source / name
    return path.stat().st_size if path.is_file() else 0


def products_per_cpu_second() -> float:
    """Floating-point operations per CPU second of one core, for a matrix product of a small encoder in the training precision.
    Measured in thread time, which excludes other programs."""
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
