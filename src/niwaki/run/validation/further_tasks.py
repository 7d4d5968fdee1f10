"""Can the further tasks of a stage be trained next to the recipe's: their rows, their names, and the methods of the stage?"""

from collections.abc import Iterator

from niwaki.core.problems import Problems
from niwaki.methods._method import ContributesLoss
from niwaki.run.add_head import RESERVED
from niwaki.run.recipe_settings import Stage
from niwaki.run.validation.draft import Draft, ResolvedStage
from niwaki.run.validation.inputs import check_labels_seen


def check(draft: Draft, problems: Problems) -> None:
    for stage in draft.stages:
        problems.add(stage_faults(stage), f"stage '{stage.name}': ")
        for name, task in stage.tasks.items():
            with problems.collecting(f"stage '{stage.name}': tasks.{name}: "):
                task.splits()
                _ = task.labels
                check_labels_seen(task)


def stage_faults(stage: ResolvedStage) -> Iterator[str]:
    if not stage.spec.tasks:
        return
    yield from settings_faults(stage.spec)
    for number, method in enumerate(stage.methods):
        name = stage.spec.methods[number]["use"]
        if isinstance(method, ContributesLoss):
            yield f"methods.{number}: '{name}' adds to the loss of one task, and the stage has tasks; leave it out"
        elif method.requires.reduces:
            yield f"methods.{number}: '{name}' makes the model smaller, and heads in `tasks` keep their size; use it in an earlier stage"


def settings_faults(spec: Stage) -> Iterator[str]:
    names = [one.name for one in spec.tasks]
    if spec.train is None:
        yield "tasks: have no effect without a train block; add one, e.g. train = { epochs = 1 }"
    elif spec.train.unlabelled or spec.train.augmentations:
        yield "tasks: a stage with several tasks trains on labelled rows; leave out unlabelled and augmentations"
    if spec.teachers or spec.alternatives:
        yield "tasks: a stage with several tasks has neither teacher nor alternatives"
    for name in dict.fromkeys(names):
        if names.count(name) > 1:
            yield f"tasks: '{name}' is used twice; give each task a name of its own"
        if name in RESERVED:
            yield f"tasks: '{name}' means something else to `niwaki predict --heads`; choose another name"
