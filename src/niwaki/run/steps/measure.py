"""Measure: quality, size and parity of the saved model in the engine that its user would run."""

from pathlib import Path

import numpy as np

from niwaki import __version__
from niwaki.answers._answer_type import EncodedInputs
from niwaki.core.files import write_json
from niwaki.core.json_types import Json
from niwaki.core.log import info
from niwaki.core.model_integrity import MODEL, RESULT
from niwaki.engines.predictor import Predictor
from niwaki.evaluate.footprint import footprint
from niwaki.evaluate.quality import quality
from niwaki.models.model import Model
from niwaki.run.plan import versions
from niwaki.run.steps.job import StageJob
from niwaki.run.steps.task_heads import task_scores
from niwaki.tasks._task import Task
from niwaki.train.checkpoints import TrainerState

EXAMPLE_STATS = "example_stats.npy"  # per-example statistics of the test rows, from which scores are computed
FOOTPRINT_ROWS, PARITY_ROWS = 256, 16


def measure(job: StageJob, model: Model, folder: Path, state: TrainerState | None, choice: Json | None = None) -> None:
    """Writes result.json and the per-example statistics. The model is loaded again, so a folder that cannot be loaded fails here."""
    predictor = Predictor(folder / MODEL)
    example_stats = {part: _example_stats(job.task, predictor, part) for part in job.task.data.tests}
    np.save(folder / EXAMPLE_STATS, example_stats["test"], allow_pickle=False)
    scores = {part: quality(job.task, stats, job.plan.recipe.seed) for part, stats in example_stats.items()}
    score = scores.pop("test")
    info(f"{job.name}: {score['metric']} {score['value']:.4f} ({score['low']:.3f} to {score['high']:.3f})")
    tokens = round(float(np.mean(_test_rows(job.task, predictor, FOOTPRINT_ROWS).lengths)))
    result = {
        "version": 1,
        "stage": job.name,
        "key": job.stage.key,
        "score": score,
        "parts": scores,
        **({"tasks": task_scores(job, folder / MODEL)} if job.stage.tasks else {}),
        **footprint(model, folder / MODEL, tokens),
        "training": _training(state) if state else None,
        **({"choice": choice} if choice else {}),
        "engine": predictor.engine,
        "parity": parity(predictor, _test_rows(job.task, predictor, PARITY_ROWS)),
        "spent": job.attempt.peek().to_dict(),
        "niwaki": __version__,
        "versions": versions(),
    }
    write_json(folder / RESULT, result)


def _training(state: TrainerState) -> Json:
    return {
        "steps": state.step,
        "best_step": state.best_step,
        "best_score": state.best_score,
        "start_is_best": state.start_is_best,
        "trained_parameters": state.trained_parameters,
        "trained_share": state.trained_parameters / max(state.all_parameters, 1),
    }


def _example_stats(task: Task, predictor: Predictor, part: str) -> np.ndarray:
    table = task.splits()[part]
    return task.scorer.example_stats(predictor.values(task.inputs(table)), table)


def _test_rows(task: Task, predictor: Predictor, count: int) -> EncodedInputs:
    return predictor.tokenize(task.inputs(task.splits()["test"].slice(0, count)))


def parity(predictor: Predictor, rows: EncodedInputs) -> float:
    """Largest absolute difference between the logits of the engine and of torch: rounding error for floats, more for integers.
    For seq2seq models the log-probabilities of the generated texts are compared."""
    torch_logits, logits = Predictor(predictor.folder, "torch").logits(rows), predictor.logits(rows)
    if predictor.runtime.generates:
        torch_logits, logits = torch_logits[:, 0], logits[:, 0]
    return float(np.abs(torch_logits - logits).max())
