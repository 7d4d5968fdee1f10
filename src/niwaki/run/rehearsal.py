"""Takes a skeleton of the model, without weights, through all stages of a plan: what cannot be is rejected before any work."""

from itertools import zip_longest
from typing import TYPE_CHECKING, Any, NamedTuple

from niwaki.core.errors import Refused
from niwaki.core.problems import Problems
from niwaki.models.head import Head
from niwaki.models.model import Model, skeleton_of
from niwaki.models.skeleton import WRITTEN
from niwaki.tasks._task import Task

if TYPE_CHECKING:
    from niwaki.run.plan import Plan, PlannedStage


class Shapes(NamedTuple):
    """Skeletons of what a stage trains, and of what it leaves."""

    trained: Model
    made: Model


def rehearse(plan: "Plan", head: Head, problems: Problems) -> dict[str, Shapes]:
    """The shapes of each stage that can be made. A stage that needs one that cannot is passed over: only the first is at fault."""
    shapes: dict[str, Model] = {}
    with problems.collecting():
        shapes[""] = skeleton_of(plan.model_folder, head)
    both: dict[str, Shapes] = {}
    for stage in plan.stages:
        name = stage.spec.name
        if not _needed(stage) <= shapes.keys():
            continue
        with problems.collecting(f"stage '{name}': "):
            found = rehearsed(stage, shapes, head)
            _refuse_other_answers(found.made, plan.task, head)
            both[name], shapes[name] = found, found.made
    return both


def _needed(stage: "PlannedStage") -> set[str]:
    """Stages whose shapes a stage is rehearsed with; "" is the recipe's model."""
    start = set() if stage.spec.model else {stage.parent or ""}
    return start.union(stage.spec.teachers, *(method.stages for method in stage.methods))


def _refuse_other_answers(found: Model, task: Task, head: Head) -> None:
    if head.architecture == WRITTEN and not found.anatomy.writes:
        raise Refused(f"task '{task.name}' is answered by writing, and the model only reads; put {{ use = 'writer' }} first among the first stage's methods")  # fmt: skip
    if found.anatomy.writes and head.architecture != WRITTEN:
        raise Refused(f"task '{task.name}' is answered with a {task.answer}, and the model writes; leave 'writer' out, or choose a task that is answered by writing")  # fmt: skip


def _first(stage: "PlannedStage", shapes: dict[str, Model], head: Head) -> Model:
    return skeleton_of(stage.source, head) if stage.spec.model else shapes[stage.parent or ""].clone()


def rehearsed(stage: "PlannedStage", shapes: dict[str, Model], head: Head) -> Shapes:
    """Of one stage; `shapes` are those that earlier ones leave."""
    model, teachers = _first(stage, shapes, head), [shapes[name] for name in stage.spec.teachers]
    followed, held = [], []
    for values, method in zip(stage.spec.methods, stage.methods, strict=True):
        method.fits(model, teachers[0] if teachers else None, shapes.__getitem__)
        model = method.rehearse(model, "prepare")
        if method.needs:
            followed.append((values["use"], _seen(model)))
        if method.holds and stage.spec.train:
            held.append((values["use"], _matrices(model)))
    for name, seen in followed:
        if seen != _seen(model):
            raise Refused(f"{name}: a method named after it changes the layers that it compares; name '{name}' last")
    for name, matrices in held:
        if any(one is not other for one, other in zip_longest(matrices, _matrices(model))):
            raise Refused(f"{name}: a method named after it cuts or replaces the matrices that it trains; name '{name}' after that one")  # fmt: skip
    trained = model.clone()
    for method in stage.methods:
        model = method.rehearse(model, "finish")
    return Shapes(trained, model)


def _seen(model: Model) -> list[tuple[int, ...]]:
    """What a method that compares layers depends on: depth, width, heads."""
    anatomy = model.anatomy
    depths = len(anatomy.order), len(anatomy.units) if anatomy.writes else 0
    return [(*depths, anatomy.width), *((layer.heads, layer.head_width) for layer in anatomy.layers)]


def _matrices(model: Model) -> list[Any]:
    return [model.network.get_submodule(path) for path in model.anatomy.matrices()]
