"""The ladder of simple things that a transformer must beat, on the same rows, metered like any stage. Rungs: files in `rungs/`."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from niwaki.answers._kind import Input, Value
from niwaki.core.catalog import Catalog
from niwaki.core.log import say
from niwaki.evaluate.quality import quality
from niwaki.meter import Window
from niwaki.tasks._task import Task

RUNGS = Catalog("niwaki.evaluate.rungs", what="baseline")
ORDER = ("majority", "tfidf")
Answerer = Callable[[Sequence[Input]], list[Value]]


class Rung:
    """Base of the files in `rungs/`: from the train rows to something that answers."""

    name: ClassVar[str]
    note: ClassVar[str] = ""

    def __init__(self, task: Task, model: Path) -> None:
        self.task = task
        self.model = model  # folder of the recipe's pretrained model

    def fit(self) -> Answerer | None:
        """None where the rung has no answer to this kind of task."""
        raise NotImplementedError


def climb(task: Task, model: Path, window: Callable[[], Window]) -> tuple[dict[str, Any], np.ndarray]:
    """The content of baseline.json, and the outcomes of each rung on the test rows (rungs, rows, …)."""
    rungs, outcomes = [], []
    with window() as whole:
        for kind in ORDER:
            found = _step(kind, RUNGS.load(kind, Rung)(task, model), task, window)
            if found is not None:
                rungs.append(found[0])
                outcomes.append(found[1])
    best = max(rungs, key=lambda rung: rung["validation"])
    told = {"name": best["name"], "score": best["score"], "spent": whole.reading.to_dict(), "rungs": rungs}
    return {"version": 1, **told}, np.stack(outcomes)


def _step(kind: str, rung: Rung, task: Task, window: Callable[[], Window]) -> tuple[dict[str, Any], np.ndarray] | None:
    with window() as own:
        answer = rung.fit()
        if answer is None:
            return None
        validation, test = (_outcomes(task, answer, part) for part in ("validation", "test"))
    score = quality(task, test)
    say(f"{rung.name}: {task.metric} {score['value']:.4f} ({score['low']:.3f} to {score['high']:.3f})")
    chosen_by = task.scores(validation)[task.metric]
    told = {"name": rung.name, "kind": kind, "validation": chosen_by, "score": score, "note": rung.note}
    return {**told, "spent": own.reading.to_dict()}, test


def _outcomes(task: Task, answer: Answerer, part: str) -> np.ndarray:
    table = task.splits()[part]
    return task.outcomes(answer(task.inputs(table)), table)
