"""Searches for a model within limits in one call."""

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from niwaki.api.output_folder import free_target, run_folder
from niwaki.api.sources import model_folder
from niwaki.core.errors import InputError
from niwaki.core.json_types import Json

if TYPE_CHECKING:
    from niwaki.run.recipe_settings import Recipe
    from niwaki.search.result import Searched
    from niwaki.search.search import SearchRecord

ENCODER = "is a sentence encoder, and search needs answers to score; use `niwaki compress`"
OWN = ("search.", "seed=")  # overrides for a model that are not about its data
SUMMARY = "search.json"  # in the run folder, and shorter in the folder of a selected model


def search(
    source: object,
    data: object = None,
    *,
    y: object = None,
    out: str | Path = "searched",
    task: str = "",
    tokenizer: object = None,
    overrides: Sequence[str] = (),
    per_day: float | None = None,
    **settings: object,
) -> "Searched":
    """Searches for the best model within limits, and saves it in the folder `out`.

    Trials are students of the source, in every number format and engine, scored on validation rows and timed in turns with the source.
    If no model is within all limits, the nearest one is saved and `missed` says what it misses. An interrupted call resumes in `runs/`
    next to `out`.

    source: a recipe, whose first stage is the source and whose later stages are varied; or a model, as in `compress`
    data: rows with labels, or texts without, as in `compress`; for a recipe, rows that replace its own
    overrides: settings of the data, or of a recipe, e.g. "data.text=review", "stages.student.train.epochs=2"
    per_day: texts a day, to say in how many days the search pays back
    settings: keys of a recipe's [search] table, e.g. max_mb, max_p99_ms, keep, objective, minutes

    >>> niwaki.search("my-model", "rows.csv", max_mb=10, max_p99_ms=2, keep=0.97, minutes=30)
    """
    from niwaki.search.recipes import with_settings
    from niwaki.search.search import run_search

    target = free_target(out, SUMMARY)
    given = [f"task={task}", *overrides] if task else list(overrides)
    with run_folder(target, "search") as folder, _recipe(source, data, y, given, tokenizer, folder) as recipe:
        whole = with_settings(recipe, settings)
        return run_search(whole, folder, lambda searched: _published(searched, folder, target, per_day))


def is_recipe(source: object) -> bool:
    """Whether a source is the name or the file of a recipe."""
    from niwaki.core.recipes import recipe_files

    return isinstance(source, str | Path) and (str(source) in recipe_files() or str(source).endswith(".toml"))


@contextlib.contextmanager
def _recipe(
    source: object, data: object, y: object, overrides: Sequence[str], tokenizer: object, folder: Path
) -> Iterator["Recipe"]:
    """The recipe that is searched: the user's, or one for a finished model. Rows in memory are on disk meanwhile."""
    from niwaki.run.given_data import in_memory, rows_on_disk, with_own_rows
    from niwaki.run.start import read_recipe

    if not is_recipe(source):
        yield _recipe_for_model(source, data, y, overrides, tokenizer, folder)
        return
    with rows_on_disk(data if data is not None else "", y) as path:
        found, _ = read_recipe(str(source), overrides, path)
        if data is None or not in_memory(data):
            yield found
            return
        with with_own_rows(found, Path(path), folder) as own:
            yield own


def _recipe_for_model(
    source: object, data: object, y: object, overrides: Sequence[str], tokenizer: object, folder: Path
) -> "Recipe":
    """`overrides` change the search, the seed and the data; other keys of the recipe are not the user's."""
    from niwaki.compression.rows import find_rows, is_encoder
    from niwaki.run.overrides import apply_override
    from niwaki.search.recipes import NO_ROWS, recipe_for_model

    own: Json = {}
    for override in overrides:
        if override.startswith(OWN):
            apply_override(own, override)
    model = model_folder(source, folder / "source", tokenizer)
    if is_encoder(model):
        raise InputError(f"{model}: {ENCODER}")
    if data is None:
        raise InputError(NO_ROWS)
    rows = find_rows(model, data, y, [one for one in overrides if not one.startswith(OWN)], folder)
    return recipe_for_model(model, rows, own)


def _published(searched: "SearchRecord", folder: Path, target: Path, per_day: float | None) -> "Searched":
    """Writes the page and the selected model."""
    from niwaki import report
    from niwaki.compression.result import copied_model
    from niwaki.core.files import write_json
    from niwaki.core.log import info
    from niwaki.search.result import Searched
    from niwaki.search.selected import finished

    content = finished(searched, target.name, per_day)
    report.write_search(folder, content)
    found = Searched(target, folder, content)
    selected = content["selected"]
    if selected is not None:
        about = {name: value for name, value in selected.items() if name != "race"}
        with copied_model(folder / selected["model"], target) as inside:
            write_json(inside / SUMMARY, {"version": 1, "run": folder.name, "selected": about})
    info(f"search: {found.sentence}")
    return found
