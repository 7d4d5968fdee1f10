"""A plan: the validated recipe with all defaults, and a key for each stage. Stages with the same key have the same result."""

import functools
import importlib.metadata
import platform
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from niwaki import __version__
from niwaki.answers.text import TARGET
from niwaki.core.files import fingerprint, sha256
from niwaki.core.json_types import Json
from niwaki.core.log import info
from niwaki.core.model_integrity import STAGES, folder_name
from niwaki.core.shards import is_sharded, shard_files, stored_bytes
from niwaki.data import unlabelled
from niwaki.methods import METHODS
from niwaki.methods._method import Method, ReadsStages, methods_with
from niwaki.models.config_rules import CONFIG
from niwaki.models.model import BLUEPRINT
from niwaki.models.stock import WEIGHTS
from niwaki.models.tokenizer_settings import READ
from niwaki.objectives import OBJECTIVES
from niwaki.objectives._factory import objective_name, objective_settings
from niwaki.objectives._objective import Objective
from niwaki.run.auto_train import with_auto_settings
from niwaki.run.quantized import quantized_copies
from niwaki.run.recipe_settings import Recipe, Stage
from niwaki.run.remarks import remarks
from niwaki.run.validation.cascade import check_cascade
from niwaki.run.validation.draft import MULTI_TASK, SUPERVISED, Draft, ResolvedStage, Shapes, lineage, resolve_stage
from niwaki.run.validation.shapes import dry_run_stage
from niwaki.run.validation.teachers import answers_task
from niwaki.run.validation.validate import validate
from niwaki.tasks._task import Task
from niwaki.train.precision import arithmetic, resolve_precision

FORMAT = 7  # raised when the code makes other results of the same plan
MODEL_FILES = (WEIGHTS, CONFIG, BLUEPRINT, TARGET, *READ)  # the files that decide a model's predictions
TEXT_SETTINGS = ("unlabelled", "unlabelled_path", "augmentations", "labelled")  # which texts a stage trains on
PACKAGES = ("torch", "transformers", "tokenizers", "safetensors", "accelerate", "onnxruntime", "numpy", "scikit-learn")


@dataclass(frozen=True)
class PlannedStage(ResolvedStage):
    """A stage with its key."""

    key: str
    precision: str
    teacher_cached: (
        bool  # whether an earlier stage caches the same teachers' activations, and so their logits, on the same texts
    )
    copy_of: str = ""  # the stage of the recipe that this one is a quantized copy of
    variants: "Sequence[PlannedStage]" = field(default=(), kw_only=True)

    @property
    def folder(self) -> str:
        return f"{STAGES}/{folder_name(self.spec.name, self.key)}"

    @property
    def work_folder(self) -> str:
        """Checkpoints and the training log while the stage is unfinished."""
        return f"{STAGES}/.work-{folder_name(self.spec.name, self.key)}"

    def to_json(self) -> Json:
        return {
            "name": self.spec.name,
            "key": self.key,
            "parent": self.parent,
            "model": self.spec.model,
            "teachers": self.spec.teachers,
            "replica": self.spec.replica,
            "copy_of": self.copy_of or None,
            "folder": self.folder,
            **_trained(self),
            **({"tasks": [one.model_dump() for one in self.spec.tasks]} if self.spec.tasks else {}),
            **({"alternatives": [_trained(variant) for variant in self.variants]} if self.variants else {}),
            "reduces": [*dict.fromkeys(name for method in self.methods for name in method.requires.reduces)],
        }


def _trained(stage: PlannedStage) -> Json:
    """Methods and training with all defaults."""
    methods = [
        {"use": values["use"], **method.model_dump()}
        for values, method in zip(stage.spec.methods, stage.methods, strict=True)
    ]
    train = stage.spec.train.model_dump() | {"precision": stage.precision} if stage.spec.train else None
    return {"methods": methods, "train": train}


@dataclass(frozen=True)
class Plan:
    name: str
    recipe: Recipe
    task: Task
    model_folder: Path
    stages: list[PlannedStage]
    repeats: "list[Plan]"  # the same with the further seeds
    shapes: dict[str, Shapes]  # of every stage, by its name

    @property
    def largest_source(self) -> Path:
        """The folder of the largest model that a stage starts from."""
        return max((stage.source for stage in self.stages), key=stored_bytes)

    def stage(self, name: str) -> PlannedStage:
        return next(stage for stage in self.stages if stage.spec.name == name)

    def lineage(self, name: str) -> list[PlannedStage]:
        """The stages that lead to `name`, from the one that starts from a pretrained model to itself."""
        return lineage(self.stages, name)

    def to_json(self) -> Json:
        from niwaki.meter.machine import machine

        task = self.task
        rows = {part: table.num_rows for part, table in task.splits().items()}
        return {
            "version": 1,
            "name": self.name,
            "seed": self.recipe.seed,
            "seeds": [plan.recipe.seed for plan in (self, *self.repeats)],
            "niwaki": __version__,
            "created": datetime.now(UTC).isoformat(timespec="seconds"),
            "versions": versions(),
            "hardware": machine(),
            "model": self.recipe.model,
            "meter": self.recipe.meter.model_dump(),
            "task": {
                "name": self.recipe.task,
                "metric": task.metric,
                "description": task.description,
                "answer": task.answer,
                "rows": rows,
                "labels": task.labels,
                "caveat": task.data.caveats,
            },
            "stages": [stage.to_json() for stage in self.stages],
            "repeats": [
                {"seed": plan.recipe.seed, "stages": [stage.to_json() for stage in plan.stages]}
                for plan in self.repeats
            ],
        }


def make_plan(recipe: Recipe, name: str) -> Plan:
    """Validates the recipe and computes the keys. Raises InputError with all problems; trains and writes nothing."""
    draft = validate(recipe)
    chosen = with_auto_settings(recipe, draft.task)
    if _methods(chosen) != _methods(recipe):
        draft = validate(chosen)  # the shapes are others
    recipe = chosen
    for remark in remarks(draft):
        info(remark)
    common = [FORMAT, model_digest(draft.folders[recipe.model]), draft.task.data.fingerprint()]
    plan = _plan(recipe, name, draft, common)
    _add_quantized_copies(plan, draft, common)
    check_cascade(recipe, plan.stages, plan.shapes, plan.task)
    return plan


def _methods(recipe: Recipe) -> list[list[Json]]:
    return [variant.methods for stage in recipe.stages for variant in (stage, *stage.variants())]


def _plan(recipe: Recipe, name: str, draft: Draft, common: list[object]) -> Plan:
    """The stages that the recipe names, with all seeds; `common` is part of every key."""
    seeds = dict.fromkeys(recipe.seeds or [recipe.seed])
    folder = draft.folders[recipe.model]
    plans = [Plan(name, recipe.model_copy(update={"seed": seed}), draft.task, folder, [], [], {}) for seed in seeds]
    for plan in plans:
        for spec in recipe.stages:
            plan.stages.append(_planned(plan, spec, draft, common))
    plans[0].repeats.extend(plans[1:])
    plans[0].shapes.update(draft.shapes)
    return plans[0]


def _add_quantized_copies(plan: Plan, draft: Draft, common: list[object]) -> None:
    """Appends quantized copies of the stages that answer the task, for every seed."""
    names, keys = {stage.spec.name for stage in plan.stages}, {stage.key for stage in plan.stages}
    shapes = {name: both.finished for name, both in plan.shapes.items()}
    for stage in [*plan.stages] if plan.recipe.quantize else ():
        source = stage.spec.name
        if not answers_task(plan.lineage(source), plan.task.head):
            continue
        for spec in quantized_copies(source, shapes[source], plan.recipe.quantize, names.__contains__):
            copies = [
                (seeded, replace(_planned(seeded, spec, draft, common), copy_of=source))
                for seeded in (plan, *plan.repeats)
            ]
            if copies[0][1].key in keys:  # the recipe has it under another name
                continue
            for seeded, copy in copies:
                seeded.stages.append(copy)
            plan.shapes[spec.name] = dry_run_stage(copies[0][1], shapes, plan.task.head)
            names.add(spec.name)


def model_digest(folder: Path) -> str:
    """A hash of the files that decide a model's predictions."""
    shards = [path.name for path in shard_files(folder)] if is_sharded(folder) else []
    return fingerprint({name: sha256(folder / name) for name in (*MODEL_FILES, *shards) if (folder / name).is_file()})


def _planned(plan: Plan, spec: Stage, draft: Draft, common: list[object]) -> PlannedStage:
    """The next stage of a plan, with its key."""
    keys = {stage.name: stage.key for stage in plan.stages}
    stage = resolve_stage(plan.recipe, spec, plan.stages[-1].name if plan.stages else None, draft.folders)
    teacher_cached = any(_caches_teacher(earlier, spec) for earlier in plan.stages)
    inputs = [
        *common,
        plan.recipe.seed,
        model_digest(stage.source) if spec.model else keys.get(stage.parent or ""),
        *(keys[name] for name in (*spec.teachers, *_stages_read(stage.methods))),
        *(["heard"] if teacher_cached else []),
        *([f"replica {spec.replica}"] if spec.replica else []),
        *([one.name, one.task, one.weight, stage.tasks[one.name].data.fingerprint()] for one in spec.tasks),
    ]
    planned, *variants = (_with_key(one, inputs, teacher_cached) for one in (stage, *stage.variants))
    if not variants:
        return planned
    key = fingerprint([planned.key, *(variant.key for variant in variants), spec.folds])
    return replace(planned, key=key, variants=variants)


def _with_key(stage: ResolvedStage, inputs: list[object], teacher_cached: bool) -> PlannedStage:
    spec, methods = stage.spec, stage.methods
    precision = resolve_precision(spec.train.precision) if spec.train else "fp32"
    key = stage_key(spec, methods, precision, inputs)
    shared = spec, stage.parent, stage.source, methods, key, precision, teacher_cached
    return PlannedStage(*shared, tasks=stage.tasks)


def _caches_teacher(earlier: PlannedStage, spec: Stage) -> bool:
    """Whether an earlier stage caches activations of the same teachers on the same texts."""
    first, second = earlier.spec.train, spec.train
    if first is None or second is None or not spec.teachers or earlier.spec.teachers != spec.teachers:
        return False
    same_texts = earlier.spec.replica == spec.replica and all(
        getattr(first, name) == getattr(second, name) for name in TEXT_SETTINGS
    )
    return same_texts and any(method.requires.compares_layers for method in earlier.methods)


def _stages_read(methods: list[Method]) -> list[str]:
    """Stages whose models the methods read, besides parent and teachers. "" is the recipe's model, which is part of every key."""
    return [name for method in methods_with(methods, ReadsStages) for name in method.stages if name]


def stage_key(spec: Stage, methods: list[Method], precision: str, inputs: list[object]) -> str:
    """A hash of everything that decides the result, and of nothing else, such as how often to save."""
    train = None
    if spec.train:
        whole = {"micro_shards"} if spec.train.micro_shards == 1 else set()  # keys from before the setting stay valid
        train = spec.train.model_dump(exclude={"auto", "save_seconds", "precision", "unlabelled_path"} | whole)
    texts = (
        unlabelled.digest(Path(spec.train.unlabelled_path).expanduser())
        if spec.train and spec.train.unlabelled_path
        else ""
    )
    objective = []
    if spec.train:
        given = MULTI_TASK if spec.tasks and spec.train.objective == SUPERVISED else spec.train.objective
        entry = OBJECTIVES.entry(objective_name(given))
        kind = OBJECTIVES.load(entry.name, Objective)
        objective = [entry.origin, kind.version, *objective_settings(given)]
    done = [
        [values["use"], METHODS.entry(values["use"]).origin, method.version, method.model_dump()]
        for values, method in zip(spec.methods, methods, strict=True)
    ]
    return fingerprint([*inputs, done, train, objective, texts, arithmetic(precision)])


def versions() -> dict[str, str]:
    return {"python": platform.python_version(), **_package_versions()}


@functools.cache
def _package_versions() -> dict[str, str]:
    return {name: importlib.metadata.version(name) for name in PACKAGES}
