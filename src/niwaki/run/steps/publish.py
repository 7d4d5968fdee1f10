"""Publish: write the model with its ONNX graph, tuned threshold and native program."""

import shutil
from pathlib import Path

from niwaki.core.files import write_json
from niwaki.core.model_integrity import MODEL
from niwaki.engines.export import write_graph
from niwaki.engines.native.program_file import write_program
from niwaki.engines.predictor import Predictor
from niwaki.models.model import CONFIG, Model
from niwaki.run.steps.job import StageJob
from niwaki.tasks._capabilities import TunesAnswerType
from niwaki.tasks._task import Task

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
    write_program(model, target)  # last: it depends on the config; skipped where the native engine cannot run the model


def tune_threshold(task: Task, model: Model, folder: Path) -> None:
    """Tunes the task's threshold, where it has one, on the validation rows of the saved model, and stores it in its config."""
    if not isinstance(task, TunesAnswerType):
        return
    table, predictor = task.splits()["validation"], Predictor(folder)
    rows = predictor.tokenize(task.inputs(table))
    answer_type = task.tuned(predictor.logits(rows), rows, table)
    model.network.config.niwaki_answer = answer_type.to_json()
    write_json(folder / CONFIG, model.config())
