"""The one training loop.

    for each step     for each micro-shard of its rows     seed everything from (seed, step, micro-shard)
                                                           forward ── objective.loss ── method.loss … + method.penalty … ── backward
                      add the gradients, clip, optimizer
                      method.after_step(progress)
                      now and then: validate, keep the best; save the state

Nothing random is carried from step to step and the rows of a step are computed from (seed, epoch, step), so a run that
was killed and resumed ends with the same bits as one that was not. Several processes run this loop together (`train/distributed.py`).
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

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
from niwaki.models.dropout import set_dropout
from niwaki.models.forward import forward
from niwaki.models.model import Model
from niwaki.objectives._objective import CountsRows, Objective
from niwaki.train import distributed
from niwaki.train.checkpoints import Checkpoints, TrainerState
from niwaki.train.clipping import clip_in
from niwaki.train.collator import Collator
from niwaki.train.learning_rates import lr_factor, lr_scales
from niwaki.train.micro_shards import MicroShards
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
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
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
        self.modules.to(self.device)
        self.result = self.modules if job.objective.keeps_helpers else self.network
        matrices = layer_matrices(job.model.anatomy)
        dtype = torch.bfloat16 if job.precision == "bf16" else torch.float32
        self.optimizer = make_optimizer(self.modules, job.settings, lr_scales(job.methods, job.model), matrices, dtype)
        self.is_main = distributed.is_main()
        self.checkpoints, self.state, self.best = self._start()
        self.state.trained_parameters, self.state.all_parameters = trained_and_all(job.model)
        self.rows = RowGradients(self.network)
        self.shards = MicroShards(job.settings.micro_shards, self.modules.parameters(), self._backward)
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
        self.saved_at = time.monotonic()
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
                self._save_if_due()
        distributed.require_same(self.modules, f"stage '{job.name}': after step {self.state.step}")
        self._take_best()
        distributed.broadcast(self.modules.state_dict().values())
        return self.state

    def _start(self) -> tuple[Checkpoints, TrainerState, dict[str, Tensor]]:
        """All processes start with the bits of the first one, or of the newest checkpoint."""
        if self.is_main:
            checkpoints = Checkpoints(self.job.folder)  # it removes leftovers of a crash before others look
        distributed.wait_for_all()
        if not self.is_main:
            checkpoints = Checkpoints(self.job.folder, is_main=False)
        found = checkpoints.load(self.modules, self.optimizer)
        distributed.require_same(self.modules, f"stage '{self.job.name}': before training", values=False)
        distributed.broadcast(self.modules.state_dict().values())
        return checkpoints, *found

    def _epoch(self, epoch: int) -> list[np.ndarray]:
        return self.job.objective.batches(self.job.train.features, self.job.settings.batch, self.job.seed, epoch)

    def _step(self) -> float:
        job, step = self.job, self.state.step
        value = self.shards.gradients(self.steps.rows(step))
        if not np.isfinite(value):
            fix = f"lower train.lr (now {job.settings.lr:g}) or set precision = 'fp32'"
            raise NiwakiError(f"stage '{job.name}': the loss is {value} at step {step}; {fix}")
        clip_in(self.optimizer, self.modules.parameters(), job.settings.clip)
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

    def _backward(self, rows: np.ndarray, shard: int, share: float) -> float:
        """Adds the gradients of some rows of this step, whose loss counts as `share` of all, and returns that part of the loss."""
        job, step = self.job, self.state.step
        place = "step", step, shard
        seed_torch(derive(job.seed, *place))
        self.modules.train()
        with autocast(job.precision, self.device):
            batch = self.short.apply(job.train.batch(rows), step / self.total)
            batch = job.objective.batch(batch, generator_of(job.seed, *place))
            outputs = forward(job.model.anatomy, batch, self.student_activations)
            loss = job.objective.loss(outputs, batch)
            for method in methods_with(job.methods, ContributesLoss):
                loss = method.loss(job.model, batch, outputs, loss, job.context)
            penalties = (method.penalty(job.model, outputs) for method in methods_with(job.methods, Penalizes))
            loss = sum((penalty for penalty in penalties if penalty is not None), loss)
        loss = loss if share == 1.0 else loss * share
        loss.backward()
        self.rows.gather()
        return float(loss.detach())

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
        score = distributed.from_main_process(lambda: job.objective.score(validation))
        epoch = round(self.steps.epoch(state.step), 3)
        self._record({"kind": "validation", "step": state.step, "epoch": epoch, "score": score})
        too_early = (
            state.best_step < self.min_progress * self.total
        )  # methods were not done; later weights are preferred
        higher = state.best_score is None or score > state.best_score
        if too_early or (higher and self._beats_start(validation)):
            state.best_score, state.best_step, state.validations_without_gain = score, state.step, 0
            if job.settings.keep == "best" and self.is_main:
                self.best = {name: value.detach().cpu().clone() for name, value in self.result.state_dict().items()}
        elif not higher:
            state.validations_without_gain += 1
        state.stopped = 0 < job.settings.patience <= state.validations_without_gain

    def _beats_start(self, validation: ModelValidation) -> bool:
        """Whether these weights are better than those from before the first step by more than chance, where a method asks for it."""
        if self.max_chance is None or self.max_chance >= 1:
            return True
        return distributed.from_main_process(lambda: self._chance(validation)) < self.max_chance

    def _chance(self, validation: ModelValidation) -> float:
        state, errors = self.state, self.job.objective.errors(validation)
        if errors is None:
            return 0.0
        if state.step == 0:
            state.start_errors = errors.tolist()
            return 0.0
        return chance_of(np.asarray(state.start_errors), errors)

    def _record(self, record: dict) -> None:
        self.state.history.append(record)
        if self.is_main:
            append_line(self.log, record)

    def _save_if_due(self) -> None:
        """Saves now and then, and before a stop that any process requests."""
        overdue = self.is_main and time.monotonic() - self.saved_at > self.job.settings.save_seconds
        stop, due = distributed.any_process([self.job.should_stop(), overdue])
        if stop or due:
            self._save()
            self.saved_at = time.monotonic()
        if stop:
            distributed.wait_for_all()  # for the save: the first process to exit ends the others
            raise Interrupted

    def _save(self) -> None:
        distributed.require_same(self.modules, f"stage '{self.job.name}': after step {self.state.step}")
        if self.is_main:
            self.checkpoints.save(self.state, self.modules, self.optimizer, self.best)

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
