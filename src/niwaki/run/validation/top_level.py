"""Do the task, the meter and the word vectors of a recipe exist, and are their settings valid?"""

from pathlib import Path

from niwaki.core.errors import InputError, NiwakiError
from niwaki.run.recipe_settings import Recipe


def data_problems(recipe: Recipe) -> list[str]:
    """Of the task's name and the settings of its data. Reads no rows."""
    try:
        recipe.make_task()
    except InputError as error:
        return [f"task: {fault}" if "is not known" in fault else fault for fault in error.faults]
    return []


def meter_problems(recipe: Recipe) -> list[str]:
    try:
        recipe.meter.window()
    except NiwakiError as error:
        return [f"meter.{error}"]
    return []


def vector_problems(recipe: Recipe) -> list[str]:
    there = not recipe.vectors or Path(recipe.vectors).expanduser().is_file()
    return [] if there else [f"vectors: {recipe.vectors}: is not there"]
