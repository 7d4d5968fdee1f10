"""A plan: the recipe with everything filled in, each stage with its key. Same key, same result: it is made only once."""

import importlib.metadata
import platform
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from niwaki import __version__
from niwaki.answers.text import TARGET
from niwaki.core.errors import InputError
from niwaki.core.files import fingerprint, sha256
from niwaki.core.log import info
from niwaki.core.model_integrity import STAGES, folder_name
from niwaki.core.problems import Problems
from niwaki.data import unlabelled
from niwaki.methods import METHODS
from niwaki.methods._method import Method, answers_trained
from niwaki.models.head import Head
from niwaki.models.model import BLUEPRINT, CONFIG, WEIGHTS, has_head
from niwaki.models.skeleton import read_config
from niwaki.models.tokenizer_settings import READ
from niwaki.run.dry_run import Shapes, dry_run, dry_run_stage
from niwaki.run.inputs import Inputs, check_inputs
from niwaki.run.quantized import quantized_copies
from niwaki.run.recipe import Recipe, Stage
from niwaki.run.same_tokens import check_same_tokenizer
from niwaki.tasks._task import Task
from niwaki.train.precision import resolve_precision

FORMAT = 5  # raised when the code makes other results of the same plan
MODEL_FILES = (WEIGHTS, CONFIG, BLUEPRINT, TARGET, *READ)  # what decides what a model answers
TEXT_SETTINGS = (
    "unlabelled",
    "unlabelled_path",
    "augmentations",
    "labelled",
)  # settings of a training that decide what is read
PACKAGES = ("torch", "transformers", "tokenizers", "safetensors", "accelerate", "onnxruntime", "numpy", "scikit-learn")


@dataclass(frozen=True)
class PlannedStage:
    spec: Stage
    key: str
    parent: str | None  # the stage it starts from; None where it starts from a pretrained model
    source: Path  # that model's folder, its own or the recipe's
    methods: list[Method]
    precision: str
    teacher_cached: bool  # whether an earlier stage has asked its teachers for their layers on the same texts, and so for their answers
    copy_of: str = ""  # the stage that it is a quantized copy of, which the recipe does not name itself

    @property
    def folder(self) -> str:
        return f"{STAGES}/{folder_name(self.spec.name, self.key)}"

    def to_json(self) -> dict[str, Any]:
        methods = [
            {"use": values["use"], **method.model_dump()}
            for values, method in zip(self.spec.methods, self.methods, strict=True)
        ]
        train = self.spec.train.model_dump() | {"precision": self.precision} if self.spec.train else None
        return {
            "name": self.spec.name,
            "key": self.key,
            "parent": self.parent,
            "model": self.spec.model,
            "teachers": self.spec.teachers,
            "copy_of": self.copy_of or None,
            "folder": self.folder,
            "methods": methods,
            "train": train,
            "reduces": [*dict.fromkeys(name for method in self.methods for name in method.reduces)],
        }


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
        return max((stage.source for stage in self.stages), key=lambda folder: (folder / WEIGHTS).stat().st_size)

    def stage(self, name: str) -> PlannedStage:
        return next(stage for stage in self.stages if stage.spec.name == name)

    def lineage(self, name: str) -> list[PlannedStage]:
        """The stages that lead to one, from the first, which starts from a folder, to itself."""
        stage = self.stage(name)
        return [*(self.lineage(stage.parent) if stage.parent else ()), stage]

    def to_json(self) -> dict[str, Any]:
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
                "caveat": task.caveats,
            },
            "stages": [stage.to_json() for stage in self.stages],
            "repeats": [
                {"seed": plan.recipe.seed, "stages": [stage.to_json() for stage in plan.stages]}
                for plan in self.repeats
            ],
        }


def make_plan(recipe: Recipe, name: str) -> Plan:
    """Resolves names, reads the data, checks the models, computes the keys. Refused with all that is wrong; no work is done."""
    problems = Problems()
    inputs = check_inputs(recipe, problems)
    if not inputs.has_models:
        problems.raise_any()
    common = [FORMAT, model_digest(inputs.folders[recipe.model]), inputs.task.fingerprint() if inputs.has_rows else ""]
    plan = _plan(recipe, name, inputs, common)
    if head := inputs.head():
        plan.shapes.update(dry_run(plan, head, problems))
    if inputs.has_rows:
        for refuse in (check_teachers_trained, check_text_pairs):
            with problems.collecting():
                refuse(plan)
        if len(plan.shapes) == len(plan.stages):
            with problems.collecting():
                check_same_tokenizer(plan, plan.shapes)
    problems.raise_any()
    for remark in inputs.remarks():
        info(remark)
    _add_quantized_copies(plan, inputs, common)
    return plan


def _plan(recipe: Recipe, name: str, inputs: Inputs, common: list[Any]) -> Plan:
    """The stages that the recipe names, with all seeds; `common` is what all keys have in common but the seed."""
    seeds = dict.fromkeys(recipe.seeds or [recipe.seed])
    folder = inputs.folders[recipe.model]
    plans = [Plan(name, recipe.model_copy(update={"seed": seed}), inputs.task, folder, [], [], {}) for seed in seeds]
    for plan in plans:
        for spec in recipe.stages:
            plan.stages.append(_planned(plan, spec, inputs, common))
    plans[0].repeats.extend(plans[1:])
    return plans[0]


def _add_quantized_copies(plan: Plan, inputs: Inputs, common: list[Any]) -> None:
    """Behind the recipe's stages, of those that answer the task, with all seeds alike."""
    names, keys = {stage.spec.name for stage in plan.stages}, {stage.key for stage in plan.stages}
    shapes = {name: both.finished for name, both in plan.shapes.items()}
    for stage in [*plan.stages] if plan.recipe.quantize else ():
        source = stage.spec.name
        if not _answers(plan.lineage(source), plan.task.head):
            continue
        for spec in quantized_copies(source, shapes[source], plan.recipe.quantize, names.__contains__):
            copies = [
                (one, replace(_planned(one, spec, inputs, common), copy_of=source)) for one in (plan, *plan.repeats)
            ]
            if copies[0][1].key in keys:  # the recipe has it under another name
                continue
            for one, copy in copies:
                one.stages.append(copy)
            plan.shapes[spec.name] = dry_run_stage(copies[0][1], shapes, plan.task.head)
            names.add(spec.name)


def model_digest(folder: Path) -> str:
    """Names a model by what decides its answers."""
    return fingerprint({name: sha256(folder / name) for name in MODEL_FILES if (folder / name).is_file()})


def check_teachers_trained(plan: Plan) -> None:
    """A teacher that nobody trained, and whose folder has no head for the task, would answer by chance."""
    for stage in plan.stages:
        heard = any(method.follows_answers for method in stage.methods)  # not its layers alone
        for name in stage.spec.teachers if heard else ():
            lineage = plan.lineage(name)
            if not _taught(lineage, plan.task.head):
                made = any(method.resets_head for one in lineage for method in one.methods)
                why = (
                    "its head is a new one"
                    if made
                    else f"{lineage[0].source} has no head for the task's {len(plan.task.labels)} labels ({', '.join(plan.task.labels[:4])})"
                )
                raise InputError(
                    f"stage '{stage.spec.name}': its teacher '{name}' would answer by chance: {why}, and nothing trains one; give that stage a train block for answers, or name a fine-tuned model"
                )


def _taught(lineage: list[PlannedStage], head: Head) -> bool:
    """Whether the last of these stages, each of which starts from the one before, has a head that was trained."""
    for stage in reversed(lineage):
        if stage.spec.train and answers_trained(stage.methods, stage.spec.train.labelled):
            return True
        if any(method.resets_head for method in stage.methods):
            return False
    return has_head(lineage[0].source, head)


def _answers(lineage: list[PlannedStage], head: Head) -> bool:
    """Whether the last of these stages is meant to answer the task, and not only to be trained further."""
    spec, methods = lineage[-1].spec, lineage[-1].methods
    return (spec.train is None or answers_trained(methods, spec.train.labelled)) and _taught(lineage, head)


def check_text_pairs(plan: Plan) -> None:
    """A network without layers that was made for single texts would read two as one."""
    single = len([*plan.task.texts(plan.task.splits()["train"].slice(0, 1))]) == 1
    for folder in dict.fromkeys(stage.source for stage in plan.stages):
        if not single and read_config(folder).get("niwaki_texts") == 1:
            raise InputError(
                f"{folder}: was made for single texts, and task '{plan.task.name}' is on several; start from another model"
            )


def _planned(plan: Plan, spec: Stage, inputs: Inputs, common: list[Any]) -> PlannedStage:
    """A further stage of a plan, with its key."""
    keys = {stage.spec.name: stage.key for stage in plan.stages}
    parent = None if spec.model else spec.start or (plan.stages[-1].spec.name if plan.stages else None)
    source = inputs.folders[spec.model or plan.recipe.model]
    methods = plan.recipe.make_methods(spec)
    precision = resolve_precision(spec.train.precision) if spec.train else "fp32"
    heard = any(_asks_before(one, spec) for one in plan.stages)
    key = stage_key(
        spec,
        methods,
        precision,
        [
            *common,
            plan.recipe.seed,
            model_digest(source) if spec.model else keys.get(parent or ""),
            *(keys[name] for name in (*spec.teachers, *_read_by(methods))),
            *(["heard"] if heard else []),
        ],
    )
    return PlannedStage(spec, key, parent, source, methods, precision, heard)


def _asks_before(one: PlannedStage, spec: Stage) -> bool:
    """Whether a stage compares layers with the teachers of a later one, on its texts."""
    if one.spec.train is None or spec.train is None or not spec.teachers or one.spec.teachers != spec.teachers:
        return False
    texts = [{name: getattr(train, name) for name in TEXT_SETTINGS} for train in (one.spec.train, spec.train)]
    return texts[0] == texts[1] and any(method.student_activations and method.needs_teacher for method in one.methods)


def _read_by(methods: list[Method]) -> list[str]:
    """Stages whose models the methods read, beyond parent and teachers; "" is the recipe's model, which every key holds."""
    return [name for method in methods for name in method.stages if name]


def stage_key(spec: Stage, methods: list[Method], precision: str, inputs: list[Any]) -> str:
    """A hash of all that decides the result, and of nothing else: how often to save does not."""
    train = spec.train.model_dump(exclude={"save_seconds", "precision", "unlabelled_path"}) if spec.train else None
    texts = (
        unlabelled.digest(Path(spec.train.unlabelled_path).expanduser())
        if spec.train and spec.train.unlabelled_path
        else ""
    )
    done = [
        [values["use"], METHODS.entry(values["use"]).origin, method.version, method.model_dump()]
        for values, method in zip(spec.methods, methods, strict=True)
    ]
    return fingerprint([*inputs, done, train, texts, precision])


def versions() -> dict[str, str]:
    return {"python": platform.python_version(), **{name: importlib.metadata.version(name) for name in PACKAGES}}
