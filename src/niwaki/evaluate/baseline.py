"""The ladder of simple things that a transformer must beat, on the same rows, metered like any stage. Rungs: files in `baselines/`."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from niwaki.answers._answer_type import Input, Value
from niwaki.core.catalog import Catalog
from niwaki.core.log import info
from niwaki.core.seeds import numpy_generator
from niwaki.evaluate.quality import quality
from niwaki.meter import Window
from niwaki.models.fine_tuned import fine_tuned
from niwaki.tasks._task import Task

BASELINES = Catalog("niwaki.evaluate.baselines", what="baseline", plugins=False)
ORDER = ("majority", "tfidf", "static", "frozen")  # as they rise
PredictFunction = Callable[[Sequence[Input]], list[Value]]


class Baseline:
    """Base of the files in `baselines/`: from the train rows to something that answers."""

    name: str
    note: str = ""  # what a reader of its score must know
    transformer: ClassVar[bool] = False  # whether it runs one: then it cannot show that none is needed
    most_rows: int = 100_000  # train rows that it is fitted on, at most
    unsupported: ClassVar[dict[str, str]] = {}  # kinds of answers that it has nothing to say of, and why

    def __init__(self, task: Task, model: Path, vectors: str = "") -> None:
        self.task = task
        self.model = model  # folder of the recipe's pretrained model
        self.vectors = vectors  # file of word vectors, or none

    @property
    def uses_model(self) -> bool:
        """Whether it is built on the weights of the recipe's model."""
        return self.transformer

    def has_seen_labels(self) -> bool:
        """Whether it would be built on a model that is fine-tuned already; its note then says so."""
        if not self.uses_model or self.task.answer in self.unsupported:
            return False
        found = fine_tuned(self.model)
        if found:
            self.note = f"because the recipe's model is already fine-tuned ({found}): its weights have seen labels, so this baseline would not be independent"
        return bool(found)

    def fit_if_supported(self) -> PredictFunction | None:
        """None where the rung is passed over; its note then says why."""
        if self.task.answer in self.unsupported:
            self.note = self.unsupported[self.task.answer]
            return None
        return self.fit()

    def fit(self) -> PredictFunction:
        """From the train rows to something that answers."""
        raise NotImplementedError

    def train(self) -> pa.Table:
        """The train rows; of more than `most_rows` a sample drawn without a look at them, the same in every run."""
        rows = self.task.splits()["train"]
        if rows.num_rows <= self.most_rows:
            return rows
        self.add_note(f"fitted on {self.most_rows} of the {rows.num_rows} train rows")
        drawn = numpy_generator(0, "rung", rows.num_rows).choice(rows.num_rows, self.most_rows, replace=False)
        return rows.take(np.sort(drawn))

    def add_note(self, what: str) -> None:
        self.note = f"{self.note}; {what}" if self.note else what


def run_baselines(
    task: Task, model: Path, window: Callable[[], Window], vectors: str = ""
) -> tuple[dict[str, Any], np.ndarray]:
    """The content of baseline.json, and the outcomes of each rung on the test rows (rungs, rows, …).

    The baseline of the run is the best of those without a transformer, chosen on the validation rows. Where the recipe's model is
    already fine-tuned, nothing is built on its weights."""
    baselines, example_stats, passed = [], [], {}
    with window() as whole:
        for kind in ORDER:
            baseline = BASELINES.load(kind, Baseline)(task, model, vectors)
            found = _step(kind, baseline, task, window)
            if found is None:
                passed[kind] = f"{baseline.name}: passed over, {baseline.note}"
                info(passed[kind])
            else:
                baselines.append(found[0])
                example_stats.append(found[1])
    best = max(
        (baseline for baseline in baselines if not baseline["transformer"]), key=lambda baseline: baseline["validation"]
    )
    told = {"name": best["name"], "score": best["score"], "spent": whole.reading.to_dict(), "baselines": baselines}
    return {"version": 1, **told, "skipped": passed}, np.stack(example_stats)


def _step(
    kind: str, baseline: Baseline, task: Task, window: Callable[[], Window]
) -> tuple[dict[str, Any], np.ndarray] | None:
    with window() as own:
        answer = None if baseline.has_seen_labels() else baseline.fit_if_supported()
        if answer is None:
            return None
        validation, test = (_outcomes(task, answer, part) for part in ("validation", "test"))
    score = quality(task, test)
    info(f"{baseline.name}: {task.metric} {score['value']:.4f} ({score['low']:.3f} to {score['high']:.3f})")
    chosen_by = task.scorer.scores(validation)[task.metric]
    told = {
        "name": baseline.name,
        "kind": kind,
        "transformer": baseline.transformer,
        "validation": chosen_by,
        "score": score,
        "note": baseline.note,
    }
    return {**told, "spent": own.reading.to_dict()}, test


def _outcomes(task: Task, answer: PredictFunction, part: str) -> np.ndarray:
    table = task.splits()[part]
    return task.scorer.example_stats(answer(task.inputs(table)), table)
