"""Choose: which of a stage's alternatives makes the fewest errors on training rows that it has not seen.

With at most 2,000 rows, parts of the training rows are held out in turn (cross-validation); with more, the validation rows are. Above 5,000 rows the stage is taken as
it is: fine-tuning rarely loses there, and training everything several times would be the largest cost of a run.
The chosen one is then trained on all rows, as if the recipe had named it alone. One that is not trained at all is preferred, then the stage itself: another
one must lead by half a standard error of the difference, because smaller leads are mostly chance.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from niwaki.core.files import fingerprint, read_json, write_json
from niwaki.core.json_types import Json
from niwaki.core.log import info
from niwaki.core.seeds import derive
from niwaki.models.anatomy import reads_one_vector
from niwaki.models.model import Model
from niwaki.run.plan import PlannedStage
from niwaki.run.steps.job import CPU, StageJob
from niwaki.run.steps.load import load_start_model
from niwaki.train.collator import Collator, encode_rows
from niwaki.train.infer import logits_of

FEW_ROWS, MANY_ROWS = 2000, 5000
LEAD = 0.5  # standard errors
Train = Callable[[StageJob], Model]


class Part(NamedTuple):
    """Rows that are held out, and the numbers of the training rows that remain; None: all."""

    held_out: pa.Table
    rest: np.ndarray | None


def choose(job: StageJob, train: Train) -> tuple[StageJob, Json | None]:
    """The stage with the best of its alternatives, and how it was chosen. None where there is nothing to choose from."""
    variants = [replace(job.stage, variants=()), *job.stage.variants]
    if len(variants) == 1:
        return job, None
    if reason := reason_to_skip(job):
        info(f"{job.name}: {reason}, so its alternatives are left out")
        return replace(job, stage=variants[0]), None
    parts = parts_of(job)
    errors = [held_out_errors(job, variant, number, parts, train) for number, variant in enumerate(variants)]
    chosen = best(errors, [variant.spec.train is not None for variant in variants])
    means = [float(np.mean(each)) for each in errors]
    found = {
        "chosen": chosen,
        "held_out": sum(part.held_out.num_rows for part in parts),
        "folds": len(parts),
        "alternatives": [
            {
                "methods": [values["use"] for values in variant.spec.methods],
                "trains": bool(variant.spec.train),
                "error": error,
            }
            for variant, error in zip(variants, means, strict=True)
        ],
    }
    listed = ", ".join(f"{error:.4f}" for error in means)
    info(
        f"{job.name}: errors of the alternatives on {found['held_out']} held-out rows: {listed}; takes number {chosen}"
    )
    return replace(job, stage=replace(variants[chosen], key=job.stage.key)), found


def reason_to_skip(job: StageJob) -> str:
    if job.task.splits()["train"].num_rows > MANY_ROWS:
        return f"has more than {MANY_ROWS:,} training rows"
    return "" if reads_one_vector(load_start_model(job).anatomy) else "its answers are not compared row by row"


def best(errors: Sequence[Sequence[float]], trains: Sequence[bool]) -> int:
    """The place of the alternative to take, from the errors of each on the same rows."""
    first, *others = sorted(range(len(errors)), key=lambda place: trains[place])
    for place in others:
        first = place if leads(np.subtract(errors[first], errors[place])) else first
    return first


def leads(gains: np.ndarray) -> bool:
    """Whether the mean gain over rows is above half its standard error."""
    spread = gains.std(ddof=1) / len(gains) ** 0.5 if len(gains) > 1 else 0.0
    return bool(gains.mean() > LEAD * spread)


def parts_of(job: StageJob) -> list[Part]:
    splits, table = job.task.splits(), job.task.table
    train = splits["train"]
    if train.num_rows > FEW_ROWS:
        return [Part(splits["validation"], None)]
    labels = train.column(table.stratify_by).to_pylist() if table.stratify_by else [0] * train.num_rows
    fold = folds_of(labels, job.stage.spec.folds, derive(job.seed, "folds"))
    return [
        Part(train.take(np.flatnonzero(fold == number)), np.flatnonzero(fold != number))
        for number in range(job.stage.spec.folds)
    ]


def folds_of(labels: Sequence[object], folds: int, seed: int) -> np.ndarray:
    """The fold of each row. Rows are dealt out in random order, label by label, so labels are spread evenly."""
    order = np.random.default_rng(seed).permutation(len(labels))
    order = np.array(sorted(order, key=lambda row: str(labels[row])), dtype=np.int64)
    fold = np.empty(len(labels), dtype=np.int64)
    fold[order] = np.arange(len(labels)) % folds
    return fold


def held_out_errors(
    job: StageJob, variant: PlannedStage, number: int, parts: Sequence[Part], train: Train
) -> list[float]:
    """Over all held-out rows. The errors of a finished part are stored, so an interrupted stage continues after it."""
    errors: list[float] = []
    for place, part in enumerate(parts):
        file = job.work_folder / f"alternative-{number}-{place}.json"
        if not file.is_file():
            key = fingerprint([job.stage.key, number, place])
            model = train(replace(job, stage=replace(variant, key=key), fold=part.rest))
            file.parent.mkdir(parents=True, exist_ok=True)
            write_json(file, row_errors(job, model, part.held_out))
        errors += read_json(file)
    return errors


def row_errors(job: StageJob, model: Model, rows: pa.Table) -> list[float]:
    collator = Collator(encode_rows(model, job.task, rows), model, CPU)
    logits = logits_of(model, collator, job.stage.precision)
    scorer, encoded = job.task.scorer, collator.features.rows
    found = scorer.logit_errors(logits, encoded, rows)
    return [-scorer.score_logits(logits, encoded, rows)] if found is None else found.tolist()
