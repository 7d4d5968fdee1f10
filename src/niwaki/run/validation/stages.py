"""Are the stages of a recipe named, connected and combined correctly? Keys and types are valid already."""

import re
from collections.abc import Collection, Iterable
from pathlib import Path

from niwaki.core.errors import InputError
from niwaki.core.json_types import Json
from niwaki.methods._factory import make_method
from niwaki.methods._method import Method, ReadsStages, Reshapes, answers_trained
from niwaki.objectives._factory import objective_problems
from niwaki.run.recipe_settings import PRETRAINED, Recipe, Stage
from niwaki.train.auto_settings import AUTO_SETTINGS

NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,40}")
RESERVED = ("baseline", "race", "reference", PRETRAINED)  # the ledger, the race and `start` use these names themselves


def stage_problems(recipe: Recipe, faulty: Collection[int] = ()) -> list[str]:
    """Problems of all stages. In `faulty` stages, whose own keys or types are wrong, only the methods are checked."""
    problems = name_problems(recipe, faulty)
    for number, stage in enumerate(recipe.stages):
        methods, method_errors = build_methods(stage.methods, f"stages.{number}.methods")
        problems += method_errors
        if number not in faulty:
            earlier = [before.name for before in recipe.stages[:number]]
            found = [f"train.{problem}" for problem in train_problems(stage)]
            found += method_problems(stage, methods, earlier, number)
            found += alternative_problems(stage, earlier, number)
            if not method_errors:
                found += teacher_problems(stage, [*methods.values()])
            problems += [f"stages.{number}.{problem}" for problem in found]
    return problems


def alternative_problems(stage: Stage, earlier: list[str], number: int) -> list[str]:
    """Problems of the methods and train blocks of a stage's alternatives."""
    problems = []
    if stage.alternatives and stage.teachers:
        problems.append("alternatives: they are compared on labelled rows without a teacher; leave out one of both")
    for place, variant in enumerate(stage.variants()):
        methods, found = build_methods(variant.methods, "methods")
        found += [f"train.{problem}" for problem in train_problems(variant)]
        found += method_problems(variant, methods, earlier, number)
        problems += [f"alternatives.{place}.{problem}" for problem in found]
    return problems


def name_problems(recipe: Recipe, faulty: Collection[int] = ()) -> list[str]:
    problems: list[str] = []
    seen: set[str] = set()
    for number, stage in enumerate(recipe.stages):
        if number not in faulty:
            problems += [f"stages.{number}{problem}" for problem in _name_problems(stage, seen)]
        seen.add(stage.name)
    return problems


def _name_problems(stage: Stage, seen: set[str]) -> list[str]:
    problems = []
    if not NAME.fullmatch(stage.name):
        problems.append(f".name: '{stage.name[:50]}' must be small letters, digits, - or _, at most 41")
    elif stage.name in RESERVED:
        problems.append(f".name: '{stage.name}' is taken by niwaki itself; choose another")
    elif stage.name in seen:
        problems.append(f".name: '{stage.name}' is used twice; give each stage a name of its own")
    for key, wanted in (("start", stage.start), *(("teacher", name) for name in stage.teachers)):
        if wanted and wanted not in seen and (key, wanted) != ("start", PRETRAINED):
            problems.append(
                f".{key}: '{wanted[:50]}' is not an earlier stage (there is: {', '.join(sorted(seen)) or 'none'})"
            )
    if stage.start and stage.model:
        problems.append(": has both start and model; a stage starts from one of them")
    return problems


def build_methods(listed: list[Json], path: str) -> tuple[dict[int, Method], list[str]]:
    """The valid methods by their position, and the problems of the others."""
    methods: dict[int, Method] = {}
    problems: list[str] = []
    for number, values in enumerate(listed):
        try:
            methods[number] = make_method(values, f"{path}.{number}")
        except InputError as error:
            problems += error.faults
    return methods, problems


def method_problems(stage: Stage, methods: dict[int, Method], earlier: list[str], place: int) -> list[str]:
    """What each method needs and the stage does not have."""
    problems = []
    for number, method in methods.items():
        use = stage.methods[number]["use"]
        found = [
            f"'{name[:50]}' is not an earlier stage (there is: {', '.join(earlier) or 'none'})"
            for name in (method.stages if isinstance(method, ReadsStages) else ())
            if name and name not in earlier
        ]
        if method.requires.teacher == "required" and not stage.teachers:
            found.append(f"'{use}' needs a teacher; name an earlier stage in stages.{place}.teacher")
        if method.requires.compares_layers and len(stage.teachers) > 1:
            found.append(
                f"'{use}' follows the layers of one teacher, and stages.{place}.teacher names {len(stage.teachers)}; "
                "name one, or distil with 'logits'"
            )
        if method.requires.training and not stage.train and not _is_fitted(method, methods.values()):
            found.append(f"'{use}' acts while training; give the stage a train block, e.g. train = {{ epochs = 1 }}")
        problems += [f"methods.{number}: {problem}" for problem in found]
    return problems


def _is_fitted(method: Method, methods: Iterable[Method]) -> bool:
    """Whether all that the method leaves to be trained is a head that another method fits."""
    new_head = isinstance(method, Reshapes) and method.resets_head
    return new_head and any(other.requires.fits_head for other in methods)


def teacher_problems(stage: Stage, methods: list[Method]) -> list[str]:
    """A teacher that no method uses, and early stopping without a score."""
    problems = []
    uses_teacher = any(method.requires.teacher != "none" for method in methods)
    if stage.teachers and stage.train and not uses_teacher:
        problems.append("teacher: no method of the stage uses it; add one that does, e.g. { use = 'logits' }")
    if stage.teachers and not stage.train and not any(method.requires.training for method in methods):
        problems.append(
            "teacher: has no effect without a train block; add one, e.g. train = { epochs = 1 }, or leave the teacher out"
        )
    if stage.train and stage.train.patience and not answers_trained(methods, stage.train.labelled):
        problems.append("train.patience: no method trains answers, so there is no score to stop on; leave it out")
    return problems


def train_problems(stage: Stage) -> list[str]:
    train = stage.train
    if train is None:
        return []
    problems = objective_problems(train.objective)
    if train.auto and stage.teachers:
        problems.append("auto: its rule is for fine-tuning without a teacher; give epochs and lr instead")
    if train.auto and train.model_fields_set.issuperset(AUTO_SETTINGS):
        problems.append(f"auto: has no effect, because {', '.join(AUTO_SETTINGS)} are given; leave it out")
    problems += [
        f"{key}: unlabelled texts need a teacher; name one in `teacher`"
        for key in ("unlabelled", "augmentations")
        if getattr(train, key) and not stage.teachers
    ]
    if train.unlabelled_path and not train.unlabelled:
        problems.append("unlabelled_path: has no effect while `unlabelled` is 0; set how many texts to draw")
    if train.unlabelled_path and not Path(train.unlabelled_path).expanduser().exists():
        problems.append(f"unlabelled_path: {train.unlabelled_path}: is not there")
    if not train.labelled and not (train.unlabelled or train.augmentations):
        problems.append("labelled: is false, and there are no other texts; set unlabelled (or augmentations)")
    return problems
