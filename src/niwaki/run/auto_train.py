"""`train = "auto"`: learning rate, epochs and batch size of a fine-tuning stage that its recipe does not give, from the rows.

| setting | rule | evidence |
|---|---|---|
| epochs | 30,000 texts in all, but 1 to 16 passes | single texts, 300 rows (docs/diary.md): 16 passes with batches of 16 are 18 points better than 6 with batches of 32 on 35 labels, equal on two labels within 3 points. The 30,000 texts are a rule of thumb |
| lr | 1e-4; 5e-5 for pairs of texts | RTE and STS-B in docs/diary.md, one seed. Single texts use the rate of the older recipes |
| batch | 16 below 2,000 rows, so that few rows give enough steps; else 32 | only together with the epochs; Zhang et al. 2021 (arXiv 2006.05987) use 16 for small sets |

Freezing and pooling do not depend on the rows: embeddings stay frozen in all recorded runs, and `pooled_head` pools as the checkpoint says.
"""

from typing import NamedTuple

from niwaki.core.json_types import Json
from niwaki.core.log import info
from niwaki.core.settings import check
from niwaki.methods.adapt.auto_head import AutoHead
from niwaki.run.recipe_settings import Alternative, Recipe, Stage
from niwaki.tasks._task import Task

TEXTS, MIN_EPOCHS, MAX_EPOCHS = 30_000, 1, 16
PAIR_ANSWERS = ("label", "labels", "number")  # of tasks that `pair_head` can do
LR, LR_OF_PAIRS = 1e-4, 5e-5
BATCH, SMALL_BATCH, FEW_ROWS = 32, 16, 2_000


class Rows(NamedTuple):
    """What the rule depends on."""

    number: int
    pairs: bool


def recommended(rows: Rows) -> Json:
    return {
        "epochs": float(max(MIN_EPOCHS, min(MAX_EPOCHS, round(TEXTS / rows.number)))),
        "lr": LR_OF_PAIRS if rows.pairs else LR,
        "batch": SMALL_BATCH if rows.number < FEW_ROWS else BATCH,
    }


def with_auto_settings(recipe: Recipe, task: Task) -> Recipe:
    """The recipe with the settings and heads that its stages leave to the rules."""
    if not any(map(_leaves_settings, (variant for stage in recipe.stages for variant in (stage, *stage.variants())))):
        return recipe
    train = task.splits()["train"]
    rows = Rows(train.num_rows, len([*task.texts(train.slice(0, 1))]) > 1)
    return recipe.model_copy(update={"stages": [_chosen(stage, rows, task) for stage in recipe.stages]})


def _leaves_settings(stage: Stage) -> bool:
    return bool((stage.train and stage.train.auto) or _auto_heads(stage))


def _chosen(stage: Stage, rows: Rows, task: Task) -> Stage:
    """The stage and its alternatives with what the rules choose."""
    own, *others = (_with_head(_filled(one, rows), rows, task) for one in (stage, *stage.variants()))
    alternatives = [Alternative(methods=other.methods, train=other.train) for other in others]
    return own.model_copy(update={"alternatives": alternatives})


def _auto_heads(stage: Stage) -> list[Json]:
    return [values for values in stage.methods if values.get("use") == AutoHead.label()]


def _with_head(stage: Stage, rows: Rows, task: Task) -> Stage:
    """The stage with another method in the place of `auto_head`."""
    if not _auto_heads(stage):
        return stage
    methods = []
    for values in stage.methods:
        if values in _auto_heads(stage):
            values = chosen_head(values, rows, task.answer)
            info(f"{stage.name}: auto_head: {values['use']} ({_words(rows)})")
        methods.append(values)
    return stage.model_copy(update={"methods": methods})


def chosen_head(values: Json, rows: Rows, answer: str) -> Json:
    """The method that the settings of an `auto_head` stand for."""
    few_pairs = check(AutoHead, {name: value for name, value in values.items() if name != "use"}).few_pairs
    if rows.pairs and rows.number < few_pairs and answer in PAIR_ANSWERS:
        return {"use": "pair_head"}
    return {**{name: value for name, value in values.items() if name != "few_pairs"}, "use": "pooled_head"}


def _filled(stage: Stage, rows: Rows) -> Stage:
    train = stage.train
    if train is None or not train.auto:
        return stage
    chosen = {name: value for name, value in recommended(rows).items() if name not in train.model_fields_set}
    words = ", ".join(f"{name} {value:g}" for name, value in chosen.items())
    info(f"{stage.name}: train = auto: {words} ({_words(rows)})")
    return stage.model_copy(update={"train": train.model_copy(update={**chosen, "auto": False})})


def _words(rows: Rows) -> str:
    return f"{rows.number:,} rows of {'pairs of texts' if rows.pairs else 'one text'}"
