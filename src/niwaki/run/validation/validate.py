"""Validates a recipe: the only place that rejects one.

recipe_problems   keys, names and combinations; reads no data and no model
input_problems    the models, rows and files that the recipe names
validate          both, then shapes, teachers and tokenizers of all stages
"""

from collections.abc import Collection

from niwaki.core.problems import Problems
from niwaki.run.recipe_settings import Recipe
from niwaki.run.validation import (
    cache,
    cascade,
    further_tasks,
    inputs,
    objectives,
    same_tokens,
    search,
    shapes,
    stages,
    teachers,
    text_pairs,
    top_level,
    unlabelled,
)
from niwaki.run.validation.draft import Check, Draft, resolve_stages

INPUT_CHECKS: tuple[Check, ...] = (
    inputs.check_models,
    inputs.check_rows,
    inputs.check_vectors,
    unlabelled.check,
    cache.check,
)
STAGE_CHECKS: tuple[Check, ...] = (
    further_tasks.check,
    objectives.check,
    shapes.check,
    teachers.check,
    text_pairs.check,
    same_tokens.check,
)


def recipe_problems(recipe: Recipe, faulty: Collection[str], faulty_stages: Collection[int]) -> dict[str, list[str]]:
    """Problems by the top-level key that causes them. `faulty` keys and stages have problems that are known already."""
    return {
        "data": [] if {"task", "data"} & set(faulty) else top_level.data_problems(recipe),
        "meter": top_level.meter_problems(recipe),
        "vectors": top_level.vector_problems(recipe),
        "cascade": cascade.cascade_problems(recipe),
        "search": search.search_problems(recipe) if not faulty_stages else [],
        "stages": stages.stage_problems(recipe, faulty_stages),
    }


def check_inputs(recipe: Recipe, problems: Problems, faulty: Collection[str] = ()) -> Draft:
    """Checks the models, rows and files that the recipe names, except under `faulty` keys."""
    draft = Draft(recipe, frozenset(faulty))
    for check in INPUT_CHECKS:
        check(draft, problems)
    return draft


def validate(recipe: Recipe) -> Draft:
    """The checked recipe, or InputError with all problems. Trains and writes nothing."""
    problems = Problems()
    draft = check_inputs(recipe, problems)
    if all(name in draft.folders for name in inputs.named_models(recipe)):
        draft.stages = resolve_stages(recipe, draft.folders)
        for check in STAGE_CHECKS:
            check(draft, problems)
    problems.raise_any()
    return draft
