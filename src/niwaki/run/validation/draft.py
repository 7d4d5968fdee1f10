"""A recipe while it is checked: what the checks have resolved so far, and the problems that they share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Protocol, TypeVar

from tokenizers import Tokenizer

from niwaki.core.errors import InputError
from niwaki.core.problems import Problems
from niwaki.data.image_preprocessor import ImagePreprocessor
from niwaki.methods._method import Method
from niwaki.models.head import Head
from niwaki.models.model import Model
from niwaki.objectives._factory import make_objective, objective_name
from niwaki.objectives._objective import Objective
from niwaki.objectives.multi_task import MultiTask
from niwaki.run.recipe_settings import PRETRAINED, Recipe, Stage
from niwaki.tasks._task import Task
from niwaki.train.settings import TrainSettings

SUPERVISED, MULTI_TASK = "supervised", "multi_task"
PLACEHOLDER_LABELS = ["0", "1"]  # where the labels cannot be read from the rows


@dataclass(frozen=True)
class ResolvedStage:
    """A stage of a recipe with its methods and its start model."""

    spec: Stage
    parent: str | None  # the stage it starts from; None where it starts from a pretrained model
    source: Path  # that model's folder, its own or the recipe's
    methods: list[Method]
    variants: "Sequence[ResolvedStage]" = field(default=(), kw_only=True)  # with each of its alternatives
    tasks: Mapping[str, Task] = field(default_factory=dict, kw_only=True)  # trained next to the recipe's

    @property
    def name(self) -> str:
        return self.spec.name

    def objective(self, task: Task) -> Objective:
        """What its training minimizes for the recipe's task, and for further ones."""
        given = (self.spec.train or TrainSettings()).objective
        if not self.tasks:
            return make_objective(given, task)
        found = make_objective(MULTI_TASK if given == SUPERVISED else given, task)
        if not isinstance(found, MultiTask):
            raise InputError(
                f"tasks: objective '{objective_name(given)}' trains one task; use '{MULTI_TASK}', or leave it out"
            )
        for further in self.spec.tasks:
            found.add(further.name, self.tasks[further.name], further.weight)
        return found


AnyStage = TypeVar("AnyStage", bound=ResolvedStage)


class Shapes(NamedTuple):
    """Models without weights: as a stage trains it, and as the stage saves it."""

    trained: Model
    finished: Model


@dataclass
class Draft:
    """Checks fill in the fields below `faulty`."""

    recipe: Recipe
    faulty: frozenset[str] = frozenset()  # keys of the recipe whose problems are known; checks skip them
    task: Task = field(default_factory=Task)
    folders: dict[str, Path] = field(
        default_factory=dict
    )  # of models with a readable config, by their name in the recipe
    tokenizers: dict[str, Tokenizer | ImagePreprocessor] = field(default_factory=dict)  # of these models
    has_rows: bool = False  # whether the task's rows can be used
    stages: list[ResolvedStage] = field(default_factory=list)  # empty unless all models were found
    shapes: dict[str, Shapes] = field(default_factory=dict)  # of the stages that can be made

    def is_sound(self, *keys: str) -> bool:
        return not self.faulty.intersection(keys)

    def head(self) -> Head | None:
        """The task's head. Without rows, one with placeholder labels, if the answer type allows that."""
        if self.has_rows:
            return self.task.head
        try:
            kind = self.task.answer_type
            return Head(PLACEHOLDER_LABELS, kind.architecture, kind.to_json(), kind.problem)
        except InputError:
            return None


class Check(Protocol):
    """One question about a recipe. Problems are added, not raised, so that the user sees all of them."""

    def __call__(self, draft: Draft, problems: Problems, /) -> None: ...


def resolve_stage(recipe: Recipe, spec: Stage, previous: str | None, folders: dict[str, Path]) -> ResolvedStage:
    """`previous` is the stage before it, from which it starts by default."""
    parent = None if spec.model or spec.start == PRETRAINED else spec.start or previous
    source = folders[spec.model or recipe.model]
    variants = [resolve_stage(recipe, other, previous, folders) for other in spec.variants()]
    tasks = {further.name: further.make() for further in spec.tasks}
    return ResolvedStage(spec, parent, source, recipe.make_methods(spec), variants=variants, tasks=tasks)


def resolve_stages(recipe: Recipe, folders: dict[str, Path]) -> list[ResolvedStage]:
    names = [None, *(spec.name for spec in recipe.stages)]
    return [
        resolve_stage(recipe, spec, previous, folders) for spec, previous in zip(recipe.stages, names, strict=False)
    ]


def lineage(stages: Sequence[AnyStage], name: str) -> list[AnyStage]:
    """The stages that lead to `name`, from the one that starts from a pretrained model to itself."""
    stage = next(stage for stage in stages if stage.name == name)
    return [*(lineage(stages, stage.parent) if stage.parent else ()), stage]
