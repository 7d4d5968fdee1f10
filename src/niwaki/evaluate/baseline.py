"""Simple baselines that a transformer must beat, on the same rows and metered like a stage. One file each in `baselines/`."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import ClassVar

import numpy as np
import pyarrow as pa

from niwaki.answers._answer_type import Input, Value
from niwaki.answers._images import ImageInputs
from niwaki.core.catalog import Catalog
from niwaki.core.json_types import Json
from niwaki.core.log import info
from niwaki.core.seeds import numpy_generator
from niwaki.evaluate.quality import quality
from niwaki.meter import Window
from niwaki.models.fine_tuned import fine_tuned
from niwaki.tasks._task import Task

BASELINES = Catalog("niwaki.evaluate.baselines", what="baseline", plugins=False)
ORDER = ("majority", "tfidf", "static", "frozen")  # from the simplest to the strongest
OF_LANGUAGE_MODELS = ("ngram",)
OF_IMAGES = ("majority", "pixels")
PredictFunction = Callable[[Sequence[Input]], list[Value]]


class Baseline:
    """Base class of the files in `baselines/`: fitted on the train rows, it returns a predict function."""

    name: str
    note: str = ""  # shown next to its score
    transformer: ClassVar[bool] = False  # whether it runs one, so that it cannot show that none is needed
    max_rows: int = 100_000  # maximum number of train rows to fit
    unsupported: ClassVar[dict[str, str]] = {}  # answer types without this baseline, and why

    def __init__(self, task: Task, model: Path, vectors: str = "") -> None:
        self.task = task
        self.model = model  # folder of the recipe's pretrained model; of a language model, that of the last stage
        self.vectors = vectors  # file of word vectors, or none

    @property
    def uses_model(self) -> bool:
        """Whether it uses the weights of the recipe's model."""
        return self.transformer

    def has_seen_labels(self) -> bool:
        """Whether it would use a model that is already fine-tuned; its note then says so."""
        if not self.uses_model or self.task.answer in self.unsupported:
            return False
        result = fine_tuned(self.model)
        if result:
            self.note = f"because the recipe's model is already fine-tuned ({result}): its weights have seen labels, so this baseline would not be independent"
        return bool(result)

    def fit_if_supported(self) -> PredictFunction | None:
        """None if the baseline is skipped; its note then says why."""
        if self.task.answer in self.unsupported:
            self.note = self.unsupported[self.task.answer]
            return None
        return self.fit()

    def fit(self) -> PredictFunction:
        """Fits the train rows and returns a predict function."""
        raise NotImplementedError

    def train(self) -> pa.Table:
        """The train rows, or a random sample of `max_rows` of them, the same in every run."""
        rows = self.task.splits()["train"]
        if rows.num_rows <= self.max_rows:
            return rows
        self.add_note(f"fitted on {self.max_rows} of the {rows.num_rows} train rows")
        drawn = numpy_generator(0, "baseline", rows.num_rows).choice(rows.num_rows, self.max_rows, replace=False)
        return rows.take(np.sort(drawn))

    def add_note(self, what: str) -> None:
        self.note = f"{self.note}; {what}" if self.note else what


def run_baselines(task: Task, model: Path, window: Callable[[], Window], vectors: str = "") -> tuple[Json, np.ndarray]:
    """The content of baseline.json, and the per-example statistics on the test rows (baselines, rows, …).

    The baseline of the run is the best one without a transformer, chosen on the validation rows. If the recipe's model is already
    fine-tuned, baselines that use its weights are skipped."""
    baselines, example_stats, skipped = [], [], {}
    with window() as whole:
        for kind in kinds_for(task):
            baseline = BASELINES.load(kind, Baseline)(task, model, vectors)
            result = _run_baseline(kind, baseline, task, window)
            if result is None:
                skipped[kind] = f"{baseline.name}: skipped, {baseline.note}"
                info(skipped[kind])
            else:
                baselines.append(result[0])
                example_stats.append(result[1])
    best = max(
        (baseline for baseline in baselines if not baseline["transformer"]), key=lambda baseline: baseline["validation"]
    )
    record = {"name": best["name"], "score": best["score"], "spent": whole.reading.to_dict(), "baselines": baselines}
    return {"version": 1, **record, "skipped": skipped}, np.stack(example_stats)


def kinds_for(task: Task) -> tuple[str, ...]:
    """The baselines for what a task reads."""
    if isinstance(task.answer_type, ImageInputs):
        return OF_IMAGES
    return OF_LANGUAGE_MODELS if task.answer == "likelihood" else ORDER


def _run_baseline(
    kind: str, baseline: Baseline, task: Task, window: Callable[[], Window]
) -> tuple[Json, np.ndarray] | None:
    with window() as own:
        predict = None if baseline.has_seen_labels() else baseline.fit_if_supported()
        if predict is None:
            return None
        validation, test = (_example_stats(task, predict, part) for part in ("validation", "test"))
    score = quality(task, test)
    info(f"{baseline.name}: {task.metric} {score['value']:.4f} ({score['low']:.3f} to {score['high']:.3f})")
    chosen_by = task.scorer.scores(validation)[task.metric]
    record = {
        "name": baseline.name,
        "kind": kind,
        "transformer": baseline.transformer,
        "validation": chosen_by,
        "score": score,
        "note": baseline.note,
    }
    return {**record, "spent": own.reading.to_dict()}, test


def _example_stats(task: Task, predict: PredictFunction, part: str) -> np.ndarray:
    table = task.splits()[part]
    return task.scorer.example_stats(predict(task.inputs(table)), table)
