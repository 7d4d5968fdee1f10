"""The ladder of simple things that a transformer must beat, on the same rows, metered like any stage. Rungs: files in `rungs/`."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from niwaki.answers._kind import Input, Value
from niwaki.core.catalog import Catalog
from niwaki.core.log import say
from niwaki.core.seeds import numpy_generator
from niwaki.evaluate.quality import quality
from niwaki.meter import Window
from niwaki.models.fine_tuned import fine_tuned
from niwaki.tasks._task import Task

RUNGS = Catalog("niwaki.evaluate.rungs", what="baseline", plugins=False)
ORDER = ("majority", "tfidf", "static", "frozen")  # as they rise
Answerer = Callable[[Sequence[Input]], list[Value]]


class Rung:
    """Base of the files in `rungs/`: from the train rows to something that answers."""

    name: str
    note: str = ""  # what a reader of its score must know
    transformer: ClassVar[bool] = False  # whether it runs one: then it cannot show that none is needed
    most_rows: int = 100_000  # train rows that it is fitted on, at most
    passes: ClassVar[dict[str, str]] = {}  # kinds of answers that it has nothing to say of, and why

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
        if not self.uses_model or self.task.answer in self.passes:
            return False
        found = fine_tuned(self.model)
        if found:
            self.note = f"because the recipe's model is already fine-tuned ({found}): its weights have seen labels, so this baseline would not be independent"  # fmt: skip
        return bool(found)

    def answerer(self) -> Answerer | None:
        """None where the rung is passed over; its note then says why."""
        if self.task.answer in self.passes:
            self.note = self.passes[self.task.answer]
            return None
        return self.fit()

    def fit(self) -> Answerer:
        """From the train rows to something that answers."""
        raise NotImplementedError

    def train(self) -> pa.Table:
        """The train rows; of more than `most_rows` a sample drawn without a look at them, the same in every run."""
        rows = self.task.splits()["train"]
        if rows.num_rows <= self.most_rows:
            return rows
        self.tell(f"fitted on {self.most_rows} of the {rows.num_rows} train rows")
        drawn = numpy_generator(0, "rung", rows.num_rows).choice(rows.num_rows, self.most_rows, replace=False)
        return rows.take(np.sort(drawn))

    def tell(self, what: str) -> None:
        self.note = f"{self.note}; {what}" if self.note else what


def climb(
    task: Task, model: Path, window: Callable[[], Window], vectors: str = ""
) -> tuple[dict[str, Any], np.ndarray]:
    """The content of baseline.json, and the outcomes of each rung on the test rows (rungs, rows, …).

    The baseline of the run is the best of those without a transformer, chosen on the validation rows. Where the recipe's model is
    already fine-tuned, nothing is built on its weights."""
    rungs, outcomes, passed = [], [], {}
    with window() as whole:
        for kind in ORDER:
            rung = RUNGS.load(kind, Rung)(task, model, vectors)
            found = _step(kind, rung, task, window)
            if found is None:
                passed[kind] = f"{rung.name}: passed over, {rung.note}"
                say(passed[kind])
            else:
                rungs.append(found[0])
                outcomes.append(found[1])
    best = max((rung for rung in rungs if not rung["transformer"]), key=lambda rung: rung["validation"])
    told = {"name": best["name"], "score": best["score"], "spent": whole.reading.to_dict(), "rungs": rungs}
    return {"version": 1, **told, "passed_over": passed}, np.stack(outcomes)


def _step(kind: str, rung: Rung, task: Task, window: Callable[[], Window]) -> tuple[dict[str, Any], np.ndarray] | None:
    with window() as own:
        answer = None if rung.has_seen_labels() else rung.answerer()
        if answer is None:
            return None
        validation, test = (_outcomes(task, answer, part) for part in ("validation", "test"))
    score = quality(task, test)
    say(f"{rung.name}: {task.metric} {score['value']:.4f} ({score['low']:.3f} to {score['high']:.3f})")
    chosen_by = task.scores(validation)[task.metric]
    told = {
        "name": rung.name,
        "kind": kind,
        "transformer": rung.transformer,
        "validation": chosen_by,
        "score": score,
        "note": rung.note,
    }
    return {**told, "spent": own.reading.to_dict()}, test


def _outcomes(task: Task, answer: Answerer, part: str) -> np.ndarray:
    table = task.splits()[part]
    return task.outcomes(answer(task.inputs(table)), table)
