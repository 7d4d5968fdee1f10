"""Train: the methods reshape the model, the training loop runs, the methods finish."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import torch
from torch import Tensor

from niwaki.core.seeds import derive
from niwaki.methods._method import Bakes, Context, Reshapes, methods_with
from niwaki.models.features import Features
from niwaki.models.forward import Batch, Outputs, forward
from niwaki.models.model import Model
from niwaki.objectives._factory import make_objective
from niwaki.objectives._objective import Objective
from niwaki.run.steps.job import CPU, StageJob
from niwaki.run.steps.load import load_stage_model
from niwaki.run.steps.training_data import TrainingData
from niwaki.train.checkpoints import TrainerState
from niwaki.train.collator import Collator, encode_rows
from niwaki.train.infer import evaluating
from niwaki.train.loop import Job, fit
from niwaki.train.precision import autocast
from niwaki.train.validation import ModelValidation, generator_of


def method_context(job: StageJob, data: TrainingData, teacher_model: Model | None) -> Context:
    """What the stage's methods may read while they prepare the model; teacher outputs are added before training."""

    @torch.no_grad()
    def outputs(model: Model, batch: Batch, activations: frozenset[str]) -> Outputs:
        with evaluating(model), autocast(job.stage.precision, CPU):
            return forward(model.anatomy, batch, activations)

    return Context(
        seed=job.seed,
        teacher=None,
        teacher_model=teacher_model,
        calibration=data.calibration,
        loss=calibration_loss(job),
        soft_loss=job.objective.soft_loss,
        texts=data.texts,
        stage_model=lambda stage: load_stage_model(job, stage),
        outputs_loss=job.objective.loss,
        outputs=outputs,
        score=partial(validation_score, job),
    )


def calibration_loss(job: StageJob) -> Callable[[Model, Batch], Tensor]:
    """The objective's loss on a batch as in training, with masks or noise that are always the same for a batch. An objective that
    reads the model reads a copy, which methods do not change."""

    ready: list[Objective] = []  # made for the first model; those that follow have its vocabulary

    def loss(model: Model, batch: Batch) -> Tensor:
        if not ready:
            ready.append(_prepared_copy(job, model))
        objective = ready[0]
        batch = objective.batch(batch, generator_of(job.seed, "calibration", int(batch.rows[0])))
        return objective.loss(forward(model.anatomy, batch, objective.activations), batch)

    return loss


def _prepared_copy(job: StageJob, model: Model) -> Objective:
    if job.stage.spec.train is None or type(job.objective).prepare is Objective.prepare:
        return job.objective
    objective = make_objective(job.stage.spec.train.objective, job.task)
    objective.prepare(model.clone(), derive(job.seed, "objective"))
    return objective


def validation_score(job: StageJob, model: Model) -> float:
    """The score of a model on the validation rows, as training computes it."""
    collator = Collator(encode_rows(model, job.objective, job.task.splits()["validation"]), model, CPU)
    return job.objective.score(ModelValidation(model, collator, job.stage.precision, job.seed))


def prepare(job: StageJob, model: Model, context: Context) -> Model:
    """The model after every method has reshaped it, in the order of the recipe."""
    for method in methods_with(job.stage.methods, Reshapes):
        model = method.prepare(model, context)
    model.network.config.niwaki_max_tokens = min(job.task.max_tokens, model.anatomy.max_tokens)
    if job.stage.spec.train:
        job.objective.prepare(model, derive(job.seed, "objective"))
    return model


def train(
    job: StageJob,
    model: Model,
    features: Features,
    context: Context,
    teacher: Callable[[Batch], Outputs] | None,
) -> TrainerState:
    """Trains `model` in place."""
    settings = job.stage.spec.train
    assert settings is not None
    return fit(
        Job(
            name=job.name,
            model=model,
            methods=job.stage.methods,
            context=replace(context, teacher=teacher),
            objective=job.objective,
            train=Collator(features, model, job.device),
            validation=Collator(encode_rows(model, job.objective, job.task.splits()["validation"]), model, job.device),
            settings=settings,
            precision=job.stage.precision,
            seed=derive(job.seed, "train"),
            folder=job.work_folder,
            should_stop=job.tick,
        )
    )


def finish(job: StageJob, model: Model) -> Model:
    """The model after every method has merged, sliced or packed its result."""
    for method in methods_with(job.stage.methods, Bakes):
        model = method.finish(model)
    return model
