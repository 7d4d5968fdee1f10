"""The recipe that is searched for a finished model: the model as the source, and one student of it."""

from collections.abc import Mapping
from pathlib import Path

from niwaki.compression.candidates import SOURCE, TRAIN
from niwaki.compression.rows import Rows
from niwaki.core.errors import InputError
from niwaki.core.json_types import Json
from niwaki.run.recipe import parse
from niwaki.run.recipe_settings import Recipe

NO_ROWS = "search: trains students, and there are no rows to train on; give rows or texts as data"
STUDENT: Json = {
    "name": "student",
    "start": SOURCE,
    "teacher": SOURCE,
    "methods": [
        {"use": "vocabulary"},
        {"use": "student"},
        {"use": "embeddings"},
        {"use": "logits", "temperature": 2.0},
    ],
    "train": dict(TRAIN),
}


def recipe_for_model(source: Path, rows: Rows, own: Json) -> Recipe:
    """`own` are further keys. Raises InputError if there are no rows to train on."""
    if not rows.can_train:
        raise InputError(NO_ROWS)
    return parse(
        {"model": str(source), "task": rows.task, "data": rows.settings, **own, "stages": [{"name": SOURCE}, STUDENT]}
    )


def with_settings(recipe: Recipe, given: Mapping[str, object]) -> Recipe:
    """The recipe with these settings in its `[search]` table; None leaves the recipe's own."""
    before = recipe.search.model_dump(exclude_unset=True) if recipe.search else {}
    search = {**before, **{name: value for name, value in given.items() if value is not None}}
    return parse({**recipe.model_dump(exclude_unset=True, exclude_none=True, exclude={"search"}), "search": search})
