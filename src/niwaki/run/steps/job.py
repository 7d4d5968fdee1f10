"""What every step of a stage reads: the plan, the stage, its folders and the request to stop."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa
import torch

from niwaki.core.model_integrity import MODEL
from niwaki.core.seeds import derive
from niwaki.meter.ledger import Attempt
from niwaki.objectives._objective import Objective
from niwaki.run.plan import Plan, PlannedStage
from niwaki.run.processes import Beat
from niwaki.tasks._task import Task
from niwaki.train.loop import Interrupted

CPU = torch.device("cpu")


@dataclass(frozen=True)
class StageJob:
    """One stage of a plan in one run folder."""

    plan: Plan
    stage: PlannedStage
    run_folder: Path
    attempt: Attempt | Beat
    should_stop: Callable[[], bool]
    fold: np.ndarray | None = None  # numbers of the training rows to use; None: all

    @property
    def name(self) -> str:
        return self.stage.spec.name

    @property
    def task(self) -> Task:
        return self.plan.task

    @cached_property
    def train_rows(self) -> pa.Table:
        rows = self.task.splits()["train"]
        return rows if self.fold is None else rows.take(self.fold)

    @cached_property
    def objective(self) -> Objective:
        """What the stage minimizes."""
        return self.stage.objective(self.task)

    @property
    def seed(self) -> int:
        """The seed of the stage's random numbers."""
        seed, replica = self.plan.recipe.seed, self.stage.spec.replica
        return derive(seed, "replica", replica) if replica else seed

    @cached_property
    def device(self) -> torch.device:
        return torch.device("cuda") if torch.cuda.is_available() else CPU

    @property
    def target(self) -> Path:
        """The folder that the finished stage is committed to."""
        return self.run_folder / self.stage.folder

    @property
    def work_folder(self) -> Path:
        """Checkpoints and the training log of an unfinished stage."""
        return self.run_folder / self.stage.work_folder

    def model_folder(self, stage: str) -> Path:
        """The folder of the model that an earlier stage saved."""
        return self.run_folder / self.plan.stage(stage).folder / MODEL

    def tick(self) -> bool:
        """Charges the time so far to the ledger; returns whether the user wants to stop."""
        self.attempt.beat()
        return self.should_stop()

    def stop_if_requested(self) -> None:
        if self.tick():
            raise Interrupted
