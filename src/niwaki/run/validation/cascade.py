"""Can the stages that a recipe names for its cascade form one?"""

from collections.abc import Mapping, Sequence

from niwaki.answers._capabilities import HasConfidence
from niwaki.core.errors import InputError, did_you_mean
from niwaki.core.run_folder import CASCADE
from niwaki.engines.exits import exits_of
from niwaki.run.recipe_settings import Recipe
from niwaki.run.validation.draft import ResolvedStage, Shapes, lineage
from niwaki.run.validation.teachers import answers_task
from niwaki.tasks._task import Task


def cascade_problems(recipe: Recipe) -> list[str]:
    """Of the names in the cascade. Reads no data and no model."""
    if recipe.cascade is None:
        return []
    names, listed = [stage.name for stage in recipe.stages], recipe.cascade.stages
    known = [*names, *(f"{name}-{kind}" for name in names for kind in recipe.quantize)]
    problems = [
        f"cascade.stages: '{name[:50]}' is neither a stage nor a quantized copy of one{did_you_mean(name, known)}"
        for name in dict.fromkeys(listed)
        if name not in known
    ]
    if len(set(listed)) < len(listed):
        problems.append("cascade.stages: names a stage twice; name different ones, the cheapest first")
    if CASCADE in names:
        problems.append(f"cascade: a stage is called '{CASCADE}' too; rename the stage")
    return problems


def check_cascade(recipe: Recipe, stages: Sequence[ResolvedStage], shapes: Mapping[str, Shapes], task: Task) -> None:
    """Checks the models that the cascade is made of. Raises InputError with all problems."""
    if recipe.cascade is None:
        return
    listed = recipe.cascade.stages
    if not isinstance(task.answer_type, HasConfidence):
        raise InputError(
            f"cascade: answers of the type {task.answer} have no confidence, which a cascade needs; remove the section"
        )
    problems = [
        f"cascade.stages: '{name}' is not made, because the matrices of its stage are packed already; name the stage itself"
        for name in listed
        if name not in shapes
    ]
    for name in listed:
        if name in shapes and not answers_task(lineage(stages, name), task.head):
            problems.append(f"cascade.stages: '{name}' does not answer the task; name a stage that is trained on it")
    if len(listed) == 1 and not problems and not exits_of(shapes[listed[0]].finished.network.config.to_dict()):
        problems.append(
            f"cascade.stages: '{listed[0]}' has no exits; name two stages, or add method 'exits' to this one"
        )
    if problems:
        raise InputError(problems)
