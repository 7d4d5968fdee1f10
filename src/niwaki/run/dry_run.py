"""Takes a skeleton of the model, without weights, through all stages of a plan: what cannot be is rejected before any work."""

from itertools import zip_longest
from typing import TYPE_CHECKING, Any, NamedTuple

from niwaki.core.errors import InputError
from niwaki.core.problems import Problems
from niwaki.models.head import Head
from niwaki.models.model import Model, skeleton_of
from niwaki.models.skeleton import CONDITIONAL_GENERATION
from niwaki.tasks._task import Task

if TYPE_CHECKING:
    from niwaki.run.plan import Plan, PlannedStage


class Shapes(NamedTuple):
    """Skeletons of what a stage trains, and of what it leaves."""

    trained: Model
    finished: Model


def dry_run(plan: "Plan", head: Head, problems: Problems) -> dict[str, Shapes]:
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
            found = dry_run_stage(stage, shapes, head)
            _refuse_other_answers(found.finished, plan.task, head)
            both[name], shapes[name] = found, found.finished
    return both


def _needed(stage: "PlannedStage") -> set[str]:
    """Stages whose shapes a stage is rehearsed with; "" is the recipe's model."""
    start = set() if stage.spec.model else {stage.parent or ""}
    return start.union(stage.spec.teachers, *(method.stages for method in stage.methods))


def _refuse_other_answers(found: Model, task: Task, head: Head) -> None:
    if head.architecture == CONDITIONAL_GENERATION and not found.anatomy.is_seq2seq:
        raise InputError(
            f"task '{task.name}' is answered by writing, and the model only reads; put {{ use = 'add_decoder' }} first among the first stage's methods"
        )
    if found.anatomy.is_seq2seq and head.architecture != CONDITIONAL_GENERATION:
        raise InputError(
            f"task '{task.name}' is answered with a {task.answer}, and the model writes; leave 'add_decoder' out, or choose a task that is answered by writing"
        )


def _first(stage: "PlannedStage", shapes: dict[str, Model], head: Head) -> Model:
    return skeleton_of(stage.source, head) if stage.spec.model else shapes[stage.parent or ""].clone()


def dry_run_stage(stage: "PlannedStage", shapes: dict[str, Model], head: Head) -> Shapes:
    """Of one stage; `shapes` are those that earlier ones leave."""
    model, teachers = _first(stage, shapes, head), [shapes[name] for name in stage.spec.teachers]
    followed, held = [], []
    for values, method in zip(stage.spec.methods, stage.methods, strict=True):
        method.check_teacher(model, teachers[0] if teachers else None, shapes.__getitem__)
        model = method.dry_run(model, "prepare")
        if method.student_activations:
            followed.append((values["use"], _seen(model)))
        if method.pins_modules and stage.spec.train:
            held.append((values["use"], _matrices(model)))
    for name, seen in followed:
        if seen != _seen(model):
            raise InputError(f"{name}: a method named after it changes the layers that it compares; name '{name}' last")
    for name, matrices in held:
        if any(one is not other for one, other in zip_longest(matrices, _matrices(model))):
            raise InputError(
                f"{name}: a method named after it cuts or replaces the matrices that it trains; name '{name}' after that one"
            )
    trained = model.clone()
    for method in stage.methods:
        model = method.dry_run(model, "finish")
    return Shapes(trained, model)


def _seen(model: Model) -> list[tuple[int, ...]]:
    """What a method that compares layers depends on: depth, width, heads."""
    anatomy = model.anatomy
    depths = len(anatomy.order), len(anatomy.decoder_layers) if anatomy.is_seq2seq else 0
    return [(*depths, anatomy.hidden_size), *((layer.heads, layer.head_size) for layer in anatomy.layers)]


def _matrices(model: Model) -> list[Any]:
    return [model.network.get_submodule(path) for path in model.anatomy.matrices()]
