"""Publish: write the model with its ONNX graph, tuned threshold and native program."""

import shutil
from pathlib import Path

from niwaki.core.model_integrity import MODEL
from niwaki.engines.export import write_graph
from niwaki.engines.native.program_file import write_program
from niwaki.models.model import Model
from niwaki.run.steps.job import StageJob
from niwaki.run.steps.task_heads import tune_threshold, write_task_heads

TRAINING_LOG = "train.jsonl"


def publish(job: StageJob, model: Model, folder: Path) -> None:
    """Fills `folder`, which is committed afterwards."""
    target = folder / MODEL
    target.mkdir()
    model.save(target)
    write_graph(model, target)
    if job.stage.spec.train:
        shutil.copy(job.work_folder / TRAINING_LOG, folder / TRAINING_LOG)
    tune_threshold(job.task, model, target)
    write_program(
        model, target
    )  # after the threshold, which is in the config; skipped where the native engine cannot run the model
    write_task_heads(job, target)
