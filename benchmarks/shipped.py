"""Stages of shipped recipes, so that benchmarks measure what `niwaki run` offers."""

import tomllib
from typing import Any

from niwaki.core.recipes import recipe_files

Stage = dict[str, Any]


def stages(recipe: str) -> list[Stage]:
    """All stages of a shipped recipe in order."""
    return tomllib.loads(recipe_files()[recipe].read_text(encoding="utf-8"))["stages"]


def stage(recipe: str, name: str) -> Stage:
    """One stage without its name."""
    found = next(stage for stage in stages(recipe) if stage["name"] == name)
    return {key: value for key, value in found.items() if key != "name"}


def makes_cascade(recipe: str) -> bool:
    return "cascade" in tomllib.loads(recipe_files()[recipe].read_text(encoding="utf-8"))
