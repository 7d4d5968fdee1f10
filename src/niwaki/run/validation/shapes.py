"""Dry run: can every stage be made? Takes a model without weights through the methods of all stages."""

from itertools import zip_longest

from torch import nn

from niwaki.answers._images import ImageInputs
from niwaki.core.errors import InputError
from niwaki.core.problems import Problems
from niwaki.methods._method import Bakes, FollowsTeacher, Method, ReadsStages, Reshapes, methods_with
from niwaki.models.family import FAMILIES, family_of
from niwaki.models.head import Head
from niwaki.models.model import Model, skeleton_of
from niwaki.models.record import ROUTING
from niwaki.models.sizes import decoder_depth
from niwaki.models.skeleton import CONDITIONAL_GENERATION
from niwaki.run.validation.draft import Draft, ResolvedStage, Shapes
from niwaki.tasks._language_model_task import LanguageModelTask
from niwaki.tasks._task import Task


def check(draft: Draft, problems: Problems) -> None:
    """Fills `draft.shapes`. Skips a stage that depends on one that cannot be made, so that only the first problem is reported."""
    head = draft.head()
    if head is None:
        return
    finished: dict[str, Model] = {}
    with problems.collecting():
        finished[""] = skeleton_of(draft.folders[draft.recipe.model], head)
    for stage in draft.stages:
        if not _needed(stage) <= finished.keys():
            continue
        with problems.collecting(f"stage '{stage.name}': "):
            shapes = dry_run_stage(stage, finished, head)
            for number, variant in enumerate(stage.variants):
                _check_same_shape(number, dry_run_stage(variant, finished, head).finished, shapes.finished)
            _check_head_fits(shapes.finished, draft.task, head)
            draft.shapes[stage.name], finished[stage.name] = shapes, shapes.finished


def _needed(stage: ResolvedStage) -> set[str]:
    """The stages whose shapes a dry run of this one needs; "" is the recipe's model."""
    start = set() if stage.spec.model else {stage.parent or ""}
    return start.union(stage.spec.teachers, *(method.stages for method in methods_with(stage.methods, ReadsStages)))


def _check_same_shape(number: int, model: Model, expected: Model) -> None:
    """Later stages are checked with one shape, whichever alternative is taken."""
    shape, wanted = (
        {name: tuple(value.shape) for name, value in one.network.state_dict().items()} for one in (model, expected)
    )
    different = sorted(name for name in {*shape, *wanted} if shape.get(name) != wanted.get(name))
    if different:
        raise InputError(
            f"alternatives.{number}: its model has another shape than that of the stage ('{different[0]}'); "
            "alternatives may differ in training and in methods that keep the shape"
        )


def _check_head_fits(model: Model, task: Task, head: Head) -> None:
    if head.architecture == CONDITIONAL_GENERATION and not model.anatomy.is_seq2seq:
        raise InputError(
            f"task '{task.name}' needs a decoder, and the model has none; put {_decoder_for(task)} first among the first stage's methods"
        )
    has_images = isinstance(task.answer_type, ImageInputs)
    reads_images = model.anatomy.family.inputs.reads == "images"
    if has_images and not reads_images:
        raise InputError(
            f"task '{task.name}' has images, and the model reads texts; take a model for images, or put "
            "{ use = 'from_scratch', family = 'vit' } first among the first stage's methods"
        )
    if reads_images and not has_images:
        raise InputError(f"task '{task.name}' has texts, and the model reads images; take a model for texts")
    if model.anatomy.is_seq2seq and head.architecture != CONDITIONAL_GENERATION:
        raise InputError(
            f"task '{task.name}' is answered with a {task.answer}, and the model generates text; "
            "leave 'add_decoder' out, or choose a task that is answered with a text"
        )


def _decoder_for(task: Task) -> str:
    """The method that gives the task's model a decoder."""
    if not isinstance(task, LanguageModelTask):
        return "{ use = 'add_decoder' }"
    decoders = {name: family_of(name).decoder for name in FAMILIES.names()}
    families = [name for name, decoder in decoders.items() if decoder and decoder.has_own_tokenizer]
    return f"{{ use = 'from_scratch', family = '{families[-1]}' }} (or {', '.join(families[:-1])})"


def dry_run_stage(stage: ResolvedStage, finished: dict[str, Model], head: Head) -> Shapes:
    """The shapes of one stage; `finished` are those of earlier stages."""
    model = skeleton_of(stage.source, head) if stage.spec.model else finished[stage.parent or ""].clone()
    teachers = [finished[name] for name in stage.spec.teachers]
    compared: list[tuple[str, list[tuple[int, ...]]]] = []
    pinned: list[tuple[str, list[nn.Module]]] = []
    for values, method in zip(stage.spec.methods, stage.methods, strict=True):
        model = _dry_prepare(method, model, teachers, finished)
        if method.requires.activations - {ROUTING}:  # of which any number of layers can be read
            compared.append((values["use"], _layer_shapes(model)))
        if method.requires.pins_modules and stage.spec.train:
            pinned.append((values["use"], _matrices(model)))
    for name, shapes in compared:
        if shapes != _layer_shapes(model):
            raise InputError(f"{name}: a method named after it changes the layers that it compares; name '{name}' last")
    for name, matrices in pinned:
        if any(before is not after for before, after in zip_longest(matrices, _matrices(model))):
            raise InputError(
                f"{name}: a method named after it cuts or replaces the matrices that it trains; name '{name}' after that one"
            )
    bakes = list(methods_with(stage.methods, Bakes))
    trained = model.clone() if bakes else model
    for baking in bakes:
        model = baking.dry_finish(model)
    return Shapes(trained, model)


def _dry_prepare(method: Method, model: Model, teachers: list[Model], finished: dict[str, Model]) -> Model:
    if isinstance(method, FollowsTeacher) and teachers:
        _check_same_sequences(method, model, teachers[0])
        method.check_teacher(model, teachers[0])
    if isinstance(method, ReadsStages):
        method.check_stages(model, finished.__getitem__)
    return method.dry_prepare(model) if isinstance(method, Reshapes) else model


def _check_same_sequences(method: Method, student: Model, teacher: Model) -> None:
    """Layers can be compared only if both networks read a pair of texts as one sequence."""
    if method.requires.compares_layers and any(model.anatomy.head.splits_pairs for model in (student, teacher)):
        raise InputError(
            f"{method.label()}: a model with 'pair_head' reads both texts separately, so its layers cannot be compared; distil its logits"
        )


def _layer_shapes(model: Model) -> list[tuple[int, ...]]:
    """What a loss between layers depends on: depth, hidden size, heads."""
    anatomy = model.anatomy
    depths = len(anatomy.order), decoder_depth(anatomy)
    return [(*depths, anatomy.hidden_size), *((layer.heads, layer.head_size) for layer in anatomy.layers)]


def _matrices(model: Model) -> list[nn.Module]:
    return [model.network.get_submodule(path) for path in model.anatomy.matrices()]
