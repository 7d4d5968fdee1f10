"""The heads of a stage's further tasks: written next to the published model, and scored from there."""

import tempfile
from pathlib import Path

import numpy as np

from niwaki.core.files import write_json
from niwaki.core.head_folder import existing_head
from niwaki.core.json_types import Json
from niwaki.core.log import info
from niwaki.engines.predictor import Predictor
from niwaki.evaluate.quality import quality
from niwaki.models.model import CONFIG, Model, load_folder
from niwaki.objectives.multi_task import MultiTask
from niwaki.run.add_head import add_head
from niwaki.run.steps.job import StageJob
from niwaki.tasks._capabilities import TunesAnswerType
from niwaki.tasks._task import Task


def write_task_heads(job: StageJob, folder: Path) -> None:
    """Adds a head for each further task to the model in `folder`."""
    if not isinstance(job.objective, MultiTask):
        return
    for name, task in job.stage.tasks.items():
        trained = job.objective.further[name].head
        assert trained is not None  # made by `prepare`
        model = load_folder(folder, task.head)
        trained.fill(model.network)
        model.network.config.niwaki_max_tokens = min(task.max_tokens, model.anatomy.max_tokens)
        with tempfile.TemporaryDirectory() as scratch:
            source = Path(scratch)
            model.save(source)
            tune_threshold(task, model, source)
            add_head(folder, source, name)


def tune_threshold(task: Task, model: Model, folder: Path) -> None:
    """Tunes the task's threshold, where it has one, on the validation rows of the saved model, and stores it in its config."""
    if not isinstance(task, TunesAnswerType):
        return
    table, predictor = task.splits()["validation"], Predictor(folder)
    rows = predictor.tokenize(task.inputs(table))
    answer_type = task.tuned(predictor.logits(rows), rows, table)
    model.network.config.niwaki_answer = answer_type.to_json()
    write_json(folder / CONFIG, model.config())


def task_scores(job: StageJob, folder: Path) -> dict[str, Json]:
    """The score of each further task on its test rows."""
    found = {}
    for name, task in job.stage.tasks.items():
        predictor, table = Predictor(existing_head(folder, name)), task.splits()["test"]
        stats: np.ndarray = task.scorer.example_stats(predictor.values(task.inputs(table)), table)
        found[name] = quality(task, stats, job.plan.recipe.seed)
        info(f"{job.name}, {name}: {found[name]['metric']} {found[name]['value']:.4f}")
    return found
