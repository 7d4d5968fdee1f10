"""Texts and targets to a trained model: validation rows, the recipe, its stages."""

import json
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from niwaki.core.errors import InputError
from niwaki.data.object_store import write_splits
from niwaki.data.splits import split_by_hash
from niwaki.estimators._fitted import FittedModel

if TYPE_CHECKING:
    from niwaki.run.recipe_settings import Recipe

AUTO, FEW_SHOT, USUAL = "auto", "few_shot", "own_data"
FEW_PER_CLASS = 128  # up to so many rows per class the few-shot recipe is better and no slower
MAX_EPOCHS = 10_000
VALIDATION, MIN_ROWS = 0.1, 40  # share of rows that choose the best weights; with fewer rows all of them do


@dataclass(frozen=True)
class FitSettings:
    """The parameters of an estimator that decide the recipe."""

    task: str
    model: str
    method: str
    epochs: float | None
    max_tokens: int
    overrides: Sequence[str]
    seed: int


def train(table: pa.Table, settings: FitSettings) -> FittedModel:
    """Runs the recipe's stages in a temporary folder. `table` has the columns text, label and perhaps second."""
    from niwaki.run.given_data import called_data
    from niwaki.run.stages_only import run_stages
    from niwaki.run.start import read_recipe

    with tempfile.TemporaryDirectory(prefix="niwaki-fit-") as scratch:
        rows = write_splits(parts_of(table, stratify=settings.task == "classification"), Path(scratch) / "rows")
        with called_data(rows):
            name = chosen_recipe(settings, table)
            recipe, _ = read_recipe(name, overrides_of(settings, table, name), str(rows))
            model = run_stages(with_epochs(recipe, settings.epochs), Path(scratch) / "run")
        return FittedModel.moved(model)


def with_epochs(recipe: "Recipe", epochs: float | None) -> "Recipe":
    """The recipe with another length of every training stage."""
    if epochs is None:
        return recipe
    if not 0 < epochs <= MAX_EPOCHS:
        raise InputError(f"epochs: must be above 0 and at most {MAX_EPOCHS} (given: {epochs})")
    stages = [
        stage.model_copy(update={"train": stage.train.model_copy(update={"epochs": float(epochs)})})
        if stage.train
        else stage
        for stage in recipe.stages
    ]
    return recipe.model_copy(update={"stages": stages})


def parts_of(table: pa.Table, stratify: bool) -> dict[str, pa.Table]:
    """Train and validation rows. The rows of `test` are those of validation: an estimator is scored by its user."""
    cut = split_by_hash(table, "text", "label" if stratify else "", VALIDATION, 0.0)
    train, held_out = cut["train"], cut["validation"]
    labels = set(table.column("label").unique().to_pylist()) if stratify else set()
    too_few = table.num_rows < MIN_ROWS or not held_out.num_rows
    if too_few or labels - set(held_out.column("label").to_pylist()):
        train = held_out = table
    return {"train": train, "validation": held_out, "test": held_out}


def chosen_recipe(settings: FitSettings, table: pa.Table) -> str:
    """The recipe that `method` names; `auto` takes the few-shot recipe where there are few rows of each class."""
    from niwaki.core.recipes import recipe_files

    if settings.method != AUTO:
        return settings.method
    classes = table.column("label").value_counts().field("counts") if settings.task == "classification" else []
    few = len(classes) > 0 and float(np.median(np.asarray(classes))) <= FEW_PER_CLASS
    return FEW_SHOT if few and FEW_SHOT in recipe_files() else USUAL


def overrides_of(settings: FitSettings, table: pa.Table, recipe: str) -> list[str]:
    """The last stage of the usual recipe is in 8 bits already, that of the few-shot recipe gets a copy in 8 bits."""
    columns = [name for name in table.column_names if name != "label"]
    return [
        f"task={settings.task}",
        f"model={json.dumps(settings.model)}",
        f"seed={settings.seed}",
        'quantize=["int8"]' if recipe == FEW_SHOT else "quantize=[]",
        "cache.stages=false",
        "data.label=label",
        *(f"data.{name}={name}" for name in columns),
        f"data.max_tokens={settings.max_tokens}",
        *settings.overrides,
    ]


def seed_of(random_state: object) -> int:
    """The seed for a scikit-learn random_state: None is 0, so that fits can be repeated."""
    from sklearn.utils import check_random_state

    if random_state is None:
        return 0
    if isinstance(random_state, int | np.integer) and random_state >= 0:
        return int(random_state) % 2**31
    try:
        return int(check_random_state(random_state).randint(2**31 - 1))
    except ValueError:
        raise InputError(
            f"random_state: must be None, an int of at least 0 or a RandomState (given: {random_state!r})"
        ) from None
