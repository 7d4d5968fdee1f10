"""The one training loop.

    for each step     seed everything from (seed, step)
                      forward ── objective.loss ── method.loss ── method.loss … + method.penalty … ── backward, clip, optimizer
                      method.after_step(progress)
                      now and then: validate, keep the best; save the state

Nothing random is carried from step to step and the rows of a step are computed from (seed, epoch, step), so a run that
was killed and resumed ends with the same bits as one that was not.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from accelerate import Accelerator
from torch import nn

from niwaki.core.errors import NiwakiError
from niwaki.core.files import append_line, line, write_text
from niwaki.core.log import info, progress
from niwaki.core.seeds import derive, seed_torch
from niwaki.methods._method import (
    AveragesWeights,
    Context,
    ContributesLoss,
    KeepsStart,
    Method,
    Penalizes,
    Schedules,
    answers_trained,
    methods_with,
)
from niwaki.models.anatomy import reads_one_vector
from niwaki.models.forward import Batch, forward
from niwaki.models.model import Model
from niwaki.objectives._objective import CountsRows, Objective
from niwaki.train.checkpoints import Checkpoints, TrainerState
from niwaki.train.clipping import clip_in
from niwaki.train.collator import Collator
from niwaki.train.distributed import any_process, average_gradients, broadcast, from_main_process
from niwaki.train.learning_rates import lr_factor, lr_scales
from niwaki.train.optimizer import layer_matrices, make_optimizer
from niwaki.train.precision import autocast
from niwaki.train.row_gradients import RowGradients
from niwaki.train.schedules import schedule
from niwaki.train.settings import TrainSettings
from niwaki.train.short_sequences import ShortSequences
from niwaki.train.steps import Steps
from niwaki.train.trained_share import share_record, trained_and_all
from niwaki.train.validation import ModelValidation, chance_of, generator_of
from niwaki.train.weight_averages import averages, put_weights, replaced_weights

LOG_EVERY_STEPS = 10


class Interrupted(KeyboardInterrupt):
    """Training was stopped on request; a checkpoint is saved."""


@dataclass(frozen=True)
class Job:
    """Everything that a training needs. `should_stop` is called after every step."""

    name: str
    model: Model
    methods: Sequence[Method]
    context: Context
    objective: Objective
    train: Collator
    validation: Collator
    settings: TrainSettings
    precision: str
    seed: int
    folder: Path
    should_stop: Callable[[], bool]


def fit(job: Job) -> TrainerState:
    """Trains `job.model` in place, leaves its best validated weights, and returns the final state."""
    return _Fit(job).run()


class _Fit:
    def __init__(self, job: Job) -> None:
        self.job = job
        self.accelerator = Accelerator(cpu=not torch.cuda.is_available())
        self.network = job.model.network
        if isinstance(job.objective, CountsRows):
            job.objective.count(job.train.features)
        for method in methods_with(job.methods, AveragesWeights):
            method.track(job.model)
        helpers = {
            str(number): method.helpers for number, method in enumerate(job.methods) if method.helpers is not None
        }
        if job.objective.helpers is not None:
            helpers["objective"] = job.objective.helpers
        self.modules = nn.ModuleDict({"network": self.network, "helpers": nn.ModuleDict(helpers)})
        set_dropout(self.modules, job.settings.dropout)
        self.modules.to(self.accelerator.device)
        self.result = self.modules if job.objective.keeps_helpers else self.network
        matrices = layer_matrices(job.model.anatomy)
        dtype = torch.bfloat16 if job.precision == "bf16" else torch.float32
        optimizer = make_optimizer(self.modules, job.settings, lr_scales(job.methods, job.model), matrices, dtype)
        self.is_main = self.accelerator.is_main_process
        with self.accelerator.main_process_first():  # it removes leftovers of a crash first
            self.checkpoints = Checkpoints(job.folder, self.is_main)
            self.state, self.best = self.checkpoints.load(self.modules, optimizer)
        self.state.trained_parameters, self.state.all_parameters = trained_and_all(job.model)
        broadcast(self.modules.state_dict().values())
        self.optimizer = self.accelerator.prepare(optimizer)
        self.rows = RowGradients(self.network)
        self.student_activations = job.objective.activations.union(
            *(method.requires.activations for method in job.methods)
        )
        self.min_progress = 1.0 if job.objective.keeps_last else min_progress_of(job.methods, job.settings.labelled)
        starts = reads_one_vector(job.model.anatomy) and not self.min_progress
        guards = methods_with(job.methods, KeepsStart) if starts else []
        self.max_chance = min((method.max_chance for method in guards), default=None)
        self.steps = Steps(self._epoch, job.settings.epochs, job.settings.batch_growth)
        self.total = self.steps.total
        self.short = ShortSequences(job.model, job.settings.short_tokens, job.settings.short_share)
        self.log = job.folder / "train.jsonl"

    def run(self) -> TrainerState:
        job = self.job
        if self.is_main:
            write_text(self.log, "".join(line(record) + "\n" for record in self.state.history))
        if not self.state.history and self.state.trained_parameters < self.state.all_parameters:
            self._record(share_record(self.state))
        saved_at = time.monotonic()
        with self.rows, progress(job.name, self.total, self.state.step) as update:
            while True:
                if self._owes_validation():
                    with replaced_weights(self.network, averages(job.methods, job.model)):
                        self._validate()
                if self.state.step >= self.total or self.state.stopped:
                    break
                loss = self._step()
                update(
                    self.state.step,
                    f"loss {loss:.3f}" + (f", best {self.state.best_score:.4f}" if self.state.best_score else ""),
                )
                # before validation, which may take long; a resumed run does a validation that is still due
                stop = any_process(job.should_stop(), self.accelerator.device)
                if stop or time.monotonic() - saved_at > job.settings.save_seconds:
                    self._save()
                    saved_at = time.monotonic()
                if stop:
                    self.accelerator.wait_for_everyone()  # wait for the save, because the first process to exit ends the others
                    raise Interrupted
        self._take_best()
        return self.state

    def _epoch(self, epoch: int) -> list[np.ndarray]:
        """The batches of this process in an epoch. All processes take the same number of steps."""
        job = self.job
        batches = job.objective.batches(job.train.features, job.settings.batch, job.seed, epoch)
        world, rank = self.accelerator.num_processes, self.accelerator.process_index
        whole = max(world, len(batches) // world * world)
        return [batches[number % len(batches)] for number in range(rank, whole, world)]

    def _batch(self, step: int) -> Batch:
        return self.short.apply(self.job.train.batch(self.steps.rows(step)), step / self.total)

    def _step(self) -> float:
        job, step = self.job, self.state.step
        place = "step", step, self.accelerator.process_index
        seed_torch(derive(job.seed, *place))
        self.modules.train()
        with autocast(job.precision, self.accelerator.device):
            batch = job.objective.batch(self._batch(step), generator_of(job.seed, *place))
            outputs = forward(job.model.anatomy, batch, self.student_activations)
            loss = job.objective.loss(outputs, batch)
            for method in methods_with(job.methods, ContributesLoss):
                loss = method.loss(job.model, batch, outputs, loss, job.context)
            penalties = (method.penalty(job.model, outputs) for method in methods_with(job.methods, Penalizes))
            loss = sum((penalty for penalty in penalties if penalty is not None), loss)
        value = float(loss.detach())
        if not np.isfinite(value):
            fix = f"lower train.lr (now {job.settings.lr:g}) or set precision = 'fp32'"
            raise NiwakiError(f"stage '{job.name}': the loss is {value} at step {step}; {fix}")
        self.accelerator.backward(loss)
        self.rows.gather()
        average_gradients(self.modules.parameters())
        clip_in(self.optimizer.optimizer, self.modules.parameters(), job.settings.clip)
        rate = job.settings.lr * schedule(step, self.total, job.settings.warmup, job.settings.schedule)
        for group in self.optimizer.param_groups:
            group["lr"] = rate * lr_factor(group["lr_scales"], step / self.total)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        self.state.step += 1
        for scheduled in methods_with(job.methods, Schedules):
            scheduled.after_step(job.model, self.state.step / self.total)
        if step % LOG_EVERY_STEPS == 0:
            self._record(
                {
                    "kind": "step",
                    "step": step,
                    "epoch": round(self.steps.epoch(step), 3),
                    "loss": round(value, 5),
                    "lr": rate,
                }
            )
        return value

    def _due(self) -> bool:
        """After every 1/validations of an epoch, counted from the end so that the last step is always validated."""
        left = self.total - self.state.step
        if not self.job.settings.validations:
            return left == 0
        every = max(1, self.steps.per_epoch // self.job.settings.validations)
        return left % every == 0

    def _owes_validation(self) -> bool:
        done = next((record["step"] for record in reversed(self.state.history) if record["kind"] == "validation"), -1)
        return done < self.state.step and (self._due() if self.state.step else self.max_chance is not None)

    def _validate(self) -> None:
        job, state = self.job, self.state
        validation = ModelValidation(job.model, job.validation, job.precision, job.seed)
        score = from_main_process(job.objective.score(validation), self.accelerator.device)
        epoch = round(self.steps.epoch(state.step), 3)
        self._record({"kind": "validation", "step": state.step, "epoch": epoch, "score": score})
        too_early = (
            state.best_step < self.min_progress * self.total
        )  # methods were not done; later weights are preferred
        higher = state.best_score is None or score > state.best_score
        if too_early or (higher and self._beats_start(validation)):
            state.best_score, state.best_step, state.validations_without_gain = score, state.step, 0
            if job.settings.keep == "best":
                self.best = {name: value.detach().cpu().clone() for name, value in self.result.state_dict().items()}
        elif not higher:
            state.validations_without_gain += 1
        state.stopped = 0 < job.settings.patience <= state.validations_without_gain

    def _beats_start(self, validation: ModelValidation) -> bool:
        """Whether these weights are better than those from before the first step by more than chance, where a method asks for it."""
        state = self.state
        if self.max_chance is None or self.max_chance >= 1:
            return True
        errors = self.job.objective.errors(validation)
        if errors is None:
            return True
        if state.step == 0:
            state.start_errors = errors.tolist()
            return True
        chance = from_main_process(chance_of(np.asarray(state.start_errors), errors), self.accelerator.device)
        return chance < self.max_chance

    def _record(self, record: dict) -> None:
        self.state.history.append(record)
        if self.is_main:
            append_line(self.log, record)

    def _save(self) -> None:
        if self.is_main:
            self.checkpoints.save(self.state, self.modules, self.optimizer.optimizer, self.best)

    def _take_best(self) -> None:
        state = self.state
        if self.best and state.best_step != state.step:
            self.result.load_state_dict(self.best)
            state.start_is_best = state.best_step == 0
            if state.start_is_best:
                info(
                    f"{self.job.name}: no fine-tuned weights are better on the validation rows, by more than chance, than the frozen encoder with its "
                    f"trained head ({state.best_score:.4f}), which is kept"
                )
        else:
            put_weights(self.network, averages(self.job.methods, self.job.model))
        self.modules.to("cpu").eval()


def min_progress_of(methods: Sequence[Method], labelled: bool = True) -> float:
    """The progress from which on weights may be kept as the best."""
    if not answers_trained(methods, labelled):
        return 1.0
    return max((method.min_progress for method in methods_with(methods, Schedules)), default=0.0)


def set_dropout(network: nn.Module, rate: float | None) -> None:
    if rate is not None:
        module: Any
        for module in network.modules():
            if isinstance(module, nn.Dropout):
                module.p = rate
            elif isinstance(
                getattr(module, "dropout", None), float
            ):  # a plain number that is passed to a function, as in BART
                module.dropout = rate
