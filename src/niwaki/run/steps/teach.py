"""Teach: what the stage's teachers predict for its training texts, from the cache where possible."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import torch

from niwaki.engines.activation_runner import ActivationRunner
from niwaki.methods._method import followed_activations
from niwaki.models.activations import LOGITS, numbers
from niwaki.models.features import Features
from niwaki.models.forward import Batch, Outputs
from niwaki.models.model import Model, load_folder
from niwaki.run.plan import model_digest
from niwaki.run.steps.cached_outputs import with_cache
from niwaki.run.steps.job import StageJob
from niwaki.run.steps.training_data import TrainingData
from niwaki.run.validation.same_tokens import check_same_tokens
from niwaki.train.collator import Collator
from niwaki.train.teacher import (
    CacheLayout,
    Teacher,
    TeacherFunction,
    batched_teacher_function,
    ensemble,
    memoize_last_batch,
    uncached_teacher,
)

TeacherModels = dict[Path, Model]  # by folder


def load_teachers(job: StageJob) -> TeacherModels:
    return {folder: load_folder(folder) for folder in map(job.model_folder, job.stage.spec.teachers)}


def teacher_outputs(
    job: StageJob, teachers: TeacherModels, data: TrainingData, student: Model, features: Features
) -> Callable[[Batch], Outputs] | None:
    """Gives the teachers' outputs for a batch of the student's `features`; None where the stage has no teacher."""
    if not teachers:
        return None
    first = next(iter(teachers.values()))
    activations = followed_activations(job.stage.methods, student, first)
    functions = []
    for folder, model in teachers.items():
        model.network.to(job.device).eval().requires_grad_(False)
        collator = Collator(data.features(model), model, job.device)
        if activations or job.task.answer_type.per_token:
            check_same_tokens(job.name, features.rows, collator.features.rows, student, model, bool(activations))
        functions.append(_teacher(job, folder, model, collator, activations))
    return memoize_last_batch(ensemble(functions))


def _teacher(
    job: StageJob, folder: Path, model: Model, collator: Collator, activations: frozenset[str]
) -> Callable[[Batch], Outputs]:
    """One teacher. Logits alone are computed in batches; with activations, each text is computed by itself, so that cached and
    fresh outputs have the same bits. Where an earlier stage cached activations, their logits are reused."""
    if model.anatomy.is_seq2seq or (activations and job.device.type != "cpu"):
        return uncached_teacher(model, collator, activations, job.stage.precision)
    single = bool(activations) or (job.stage.teacher_cached and job.device.type == "cpu")
    function = (
        _single_texts(model, collator, activations)
        if single
        else batched_teacher_function(model, collator, job.stage.precision)
    )
    names, anatomy = (LOGITS, *sorted(activations)), model.anatomy
    identity = model_digest(folder), "alone" if single else job.stage.precision
    layout = CacheLayout(identity, collator.features.rows, names, partial(numbers, anatomy), anatomy.per_token)
    return Teacher(collator, names, anatomy.per_token, with_cache(job, layout, function, always=not activations))


def _single_texts(model: Model, collator: Collator, activations: frozenset[str]) -> TeacherFunction:
    return partial(ActivationRunner(model, activations, torch.get_num_threads()), collator.features.rows)
