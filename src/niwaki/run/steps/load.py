"""Load: the model that a stage starts from, and the disk space that the stage needs."""

from pathlib import Path

import torch

from niwaki.core.files import require_space
from niwaki.core.seeds import derive
from niwaki.models.head import Head
from niwaki.models.model import Model, load_folder
from niwaki.run.steps.job import StageJob

CHECKPOINT_COPIES = 8  # weights, two moments and the best weights, in two checkpoints


def load_start_model(job: StageJob) -> Model:
    """The model of the parent stage, or a pretrained one with a head for the objective."""
    parent = job.stage.parent
    return load_stage_model(job, parent) if parent else _load(job, job.stage.source, job.objective.head)


def load_stage_model(job: StageJob, stage: str) -> Model:
    """The model of an earlier stage; "" is the recipe's pretrained model with a head for the task."""
    return _load(job, job.model_folder(stage)) if stage else _load(job, job.plan.model_folder, job.task.head)


def _load(job: StageJob, folder: Path, head: Head | None = None) -> Model:
    torch.manual_seed(derive(job.seed, "stage"))  # initializes a new head; training seeds itself
    return load_folder(folder, head)


def require_disk_space(job: StageJob, model: Model) -> None:
    """Space for the saved model and, where the stage trains, for its checkpoints."""
    weights = sum(value.numel() * value.element_size() for value in model.network.state_dict().values())
    copies = 1 + (CHECKPOINT_COPIES if job.stage.spec.train else 0)
    require_space(job.run_folder, weights * copies, f"stage '{job.name}'")
