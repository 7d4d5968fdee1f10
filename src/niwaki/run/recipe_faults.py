"""What can be wrong with a recipe whose keys and types are right: names, tasks, methods, and what does not go together."""

import re
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from niwaki.core.errors import InputError, NiwakiError
from niwaki.methods._factory import make_method
from niwaki.methods._method import Method, answers_trained

if TYPE_CHECKING:
    from niwaki.run.recipe import Recipe, Stage

NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,40}")
RESERVED = ("baseline", "race", "reference")  # the ledger and the race use these names themselves


def data_faults(recipe: "Recipe") -> list[str]:
    """Of the task's name and of the settings of its data; rows are not looked at."""
    try:
        recipe.make_task()
    except InputError as error:
        return [f"task: {fault}" if "is not known" in fault else fault for fault in error.faults]
    return []


def meter_faults(recipe: "Recipe") -> list[str]:
    try:
        recipe.meter.window()
    except NiwakiError as error:
        return [f"meter.{error}"]
    return []


def vector_faults(recipe: "Recipe") -> list[str]:
    there = not recipe.vectors or Path(recipe.vectors).expanduser().is_file()
    return [] if there else [f"vectors: {recipe.vectors}: is not there"]


def stages_faults(recipe: "Recipe", faulty: Collection[int] = ()) -> list[str]:
    """Of all stages. Of those whose own keys or types are wrong only the methods are looked at."""
    faults = name_faults(recipe, faulty)
    for number, stage in enumerate(recipe.stages):
        made, wrong = build_methods(stage.methods, f"stages.{number}.methods")
        faults += wrong
        if number not in faulty:
            earlier = [before.name for before in recipe.stages[:number]]
            faults += [f"stages.{number}.train.{fault}" for fault in train_faults(stage)]
            faults += [f"stages.{number}.{fault}" for fault in method_faults(stage, made, earlier, number)]
            if not wrong:
                faults += [f"stages.{number}.{fault}" for fault in teaching_faults(stage, [*made.values()])]
    return faults


def name_faults(recipe: "Recipe", faulty: Collection[int] = ()) -> list[str]:
    faults: list[str] = []
    seen: set[str] = set()
    for number, stage in enumerate(recipe.stages):
        if number not in faulty:
            faults += [f"stages.{number}{fault}" for fault in _name_faults(stage, seen)]
        seen.add(stage.name)
    return faults


def _name_faults(stage: "Stage", seen: set[str]) -> list[str]:
    faults = []
    if not NAME.fullmatch(stage.name):
        faults.append(f".name: '{stage.name[:50]}' must be small letters, digits, - or _, at most 41")
    elif stage.name in RESERVED:
        faults.append(f".name: '{stage.name}' is taken by niwaki itself; choose another")
    elif stage.name in seen:
        faults.append(f".name: '{stage.name}' is used twice; give each stage a name of its own")
    for key, wanted in (("start", stage.start), *(("teacher", name) for name in stage.teachers)):
        if wanted and wanted not in seen:
            faults.append(
                f".{key}: '{wanted[:50]}' is not an earlier stage (there is: {', '.join(sorted(seen)) or 'none'})"
            )
    if stage.start and stage.model:
        faults.append(": has both start and model; a stage starts from one of them")
    return faults


def build_methods(methods: list[dict[str, Any]], path: str) -> tuple[dict[int, Method], list[str]]:
    """By their number, those that can be made, and the faults of the others."""
    made: dict[int, Method] = {}
    faults: list[str] = []
    for number, values in enumerate(methods):
        try:
            made[number] = make_method(values, f"{path}.{number}")
        except InputError as error:
            faults += error.faults
    return made, faults


def method_faults(stage: "Stage", made: dict[int, Method], earlier: list[str], place: int) -> list[str]:
    """Of each method in its stage: what it needs and does not have."""
    faults = []
    for number, method in made.items():
        path, use = f"methods.{number}", stage.methods[number]["use"]
        for name in method.stages:
            if name and name not in earlier:
                faults.append(
                    f"{path}: '{name[:50]}' is not an earlier stage (there is: {', '.join(earlier) or 'none'})"
                )
        if method.needs_teacher and not stage.teachers:
            faults.append(f"{path}: '{use}' needs a teacher; name an earlier stage in stages.{place}.teacher")
        if method.student_activations and method.needs_teacher and len(stage.teachers) > 1:
            faults.append(
                f"{path}: '{use}' follows the layers of one teacher, and stages.{place}.teacher names {len(stage.teachers)}; name one, or distil with 'logits'"
            )
        if method.needs_training and not stage.train:
            faults.append(
                f"{path}: '{use}' acts while training; give the stage a train block, e.g. train = {{ epochs = 1 }}"
            )
    return faults


def teaching_faults(stage: "Stage", made: list[Method]) -> list[str]:
    """Of a teacher that nothing listens to, and of patience without scores."""
    faults = []
    heard = any(method.needs_teacher or method.may_have_teacher for method in made)
    if stage.teachers and stage.train and not heard:
        faults.append("teacher: no method of the stage listens to it; add one that does, e.g. { use = 'logits' }")
    if stage.teachers and not stage.train and not any(method.needs_training for method in made):
        faults.append(
            "teacher: nothing is learnt from it without a train block; add one, e.g. train = { epochs = 1 }, or leave the teacher out"
        )
    if stage.train and stage.train.patience and not answers_trained(made, stage.train.labelled):
        faults.append(
            "train.patience: nothing in the stage trains answers, so no score tells when to stop; leave it out"
        )
    return faults


def train_faults(stage: "Stage") -> list[str]:
    train = stage.train
    if train is None:
        return []
    faults = [
        f"{key}: unlabelled texts need a teacher; name one in `teacher`"
        for key in ("unlabelled", "augmentations")
        if getattr(train, key) and not stage.teachers
    ]
    if train.unlabelled_path and not train.unlabelled:
        faults.append("unlabelled_path: are drawn by `unlabelled`, which is 0; say how many")
    if train.unlabelled_path and not Path(train.unlabelled_path).expanduser().exists():
        faults.append(f"unlabelled_path: {train.unlabelled_path}: is not there")
    if not train.labelled and not (train.unlabelled or train.augmentations):
        faults.append("labelled: is false, and there are no other texts; set unlabelled (or augmentations)")
    return faults
