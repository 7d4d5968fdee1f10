"""A cascade: several models as one, cheapest first. An input goes to the next model only if the one before is not confident
enough. The exits of one network count as models too, and their hidden states are reused.

The answer type defines the confidence (`AnswerType.confidence`). For a choice between labels it is the largest probability after
the logits are divided by a temperature that was fitted on validation rows. One number per model cannot overfit and never changes an
answer; it turns the largest probability into the chance of being right, so one threshold means the same for every model.

Models may have different tokenizers, so the cascade combines their answers and not their logits.
"""

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from niwaki.answers._answer_type import EncodedInputs, Input
from niwaki.answers._capabilities import ChoosesOne, HasConfidence, confidence_of
from niwaki.core import strict_json
from niwaki.core.errors import InputError
from niwaki.core.files import MANIFEST
from niwaki.core.manifest import fault_in_files
from niwaki.core.path_safety import file_inside, folder_inside
from niwaki.core.settings import Settings, check, setting
from niwaki.engines import RUNTIMES
from niwaki.engines.engine_choice import usable_engines
from niwaki.engines.predictor import Predictor
from niwaki.engines.runtime import EarlyExitRuntime, Runtime

CASCADE = "cascade.json"
MAX_BYTES, MOST_MODELS, MOST_LAYERS = 1 << 20, 16, 512
HASHED_BYTES = 1 << 20  # larger files are hashed when their model is loaded


class CascadeStep(Settings):
    """One model of a cascade, or one exit of it."""

    folder: str = setting(..., "its folder, below the cascade's", pattern=r"^[a-z0-9][a-z0-9_-]{0,63}$")
    layers: int = setting(0, "number of layers that run before it answers here; 0: all", ge=0, le=MOST_LAYERS)
    temperature: float = setting(1.0, "divides its logits", gt=0, le=1000)
    threshold: float = setting(0.0, "it answers if its confidence is at least this", ge=0, le=1)


class CascadePlan(Settings):
    """The content of `cascade.json`."""

    version: int = setting(1, "version of the file format", ge=1, le=1)
    steps: list[CascadeStep] = setting(
        ..., "cheapest first; the last answers all remaining inputs", min_length=2, max_length=MOST_MODELS
    )
    keep: float = setting(1.0, "share of the last model's score that the thresholds keep", gt=0, le=1)
    level: float = setting(0.95, "confidence level of that statement", gt=0.5, lt=1)
    task: str = setting("", "the task whose validation rows chose the thresholds")
    rows: int = setting(0, "number of those rows", ge=0)


class Cascade(Predictor):
    """`niwaki.load(folder)` of a saved cascade. Probabilities are those of the model that answered, calibrated."""

    def __init__(
        self, folder: Path, engine: str = "", threads: int | None = None, max_tokens: int | None = None
    ) -> None:
        self.folder = folder
        if (folder / MANIFEST).exists() and (fault := fault_in_files(folder, hash_up_to=HASHED_BYTES)):
            raise InputError(f"{fault}; create the cascade again")
        self.plan = read_cascade_plan(folder)
        self.steps = [steps for _, steps in by_folder(self.plan.steps)]
        self.models = [
            Predictor(home, engine_with_exits(home, engine) if len(steps) > 1 else engine, threads, max_tokens)
            for home, steps in zip(model_folders(folder, self.plan), self.steps, strict=True)
        ]
        check_compatible([(model.folder, model) for model in self.models])
        for model, steps in zip(self.models, self.steps, strict=True):
            check_exits(model, steps)
            check_temperatures(model, steps)
        last = self.models[-1]
        self.answer_type, self.labels, self.threads, self.max_tokens = (
            last.answer_type,
            last.labels,
            last.threads,
            last.max_tokens,
        )
        self.engine = " ".join(model.engine for model in self.models)

    def tokenize(self, inputs: Sequence[Input]) -> EncodedInputs:
        """Token ids of the first model; the next ones encode their inputs themselves."""
        return self.models[0].tokenize(inputs)

    def predict_rows(self, inputs: Sequence[Input], rows: EncodedInputs, bare: bool = False) -> list[Any]:
        return self.predict_with_steps(inputs, rows, bare)[0]

    def predict_with_steps(
        self, inputs: Sequence[Input], rows: EncodedInputs, bare: bool = False
    ) -> tuple[list[Any], np.ndarray]:
        """The answer to each input, and the number of the step that gave it."""
        found: list[Any] = [None] * len(inputs)
        number_of = np.zeros(len(inputs), dtype=np.int64)
        waiting, before = np.arange(len(inputs)), 0
        for model, steps in zip(self.models, self.steps, strict=True):
            if not len(waiting):
                break
            remaining = [inputs[int(place)] for place in waiting]
            encoded = rows if before == 0 else model.tokenize(remaining)
            logits, taken = calibrated_logits(model, steps, encoded)
            for place, answer in zip(waiting, model.decode_answers(logits, encoded, remaining, bare), strict=True):
                found[place] = answer
            number_of[waiting] = before + taken
            enough = confidence_of(model.answer_type, logits, encoded, remaining, model.labels) >= steps[-1].threshold
            waiting = waiting[(taken == len(steps) - 1) & ~enough]
            before += len(steps)
        return found, number_of

    def __repr__(self) -> str:
        return f"Cascade({str(self.folder)!r}, models={len(self.models)}, engine={self.engine!r}, labels={self.labels})"


def calibrated_logits(
    model: Predictor, steps: Sequence[CascadeStep], rows: EncodedInputs
) -> tuple[np.ndarray, np.ndarray]:
    """Logits of a model at its first confident exit or at its end, and the number of that step for each input."""
    temperatures = np.array([step.temperature for step in steps], dtype=np.float32)
    if len(steps) == 1:
        return model.logits(rows) / temperatures[0], np.zeros(rows.inputs, dtype=np.int64)

    def stops(number: int, some: np.ndarray) -> np.ndarray:
        return (
            confidence_of(model.answer_type, some / temperatures[number], rows, (), model.labels)
            >= steps[number].threshold
        )

    logits, taken = model.logits_with_exits(rows, stops)
    return logits / temperatures[taken, None], taken


def is_cascade(folder: Path) -> bool:
    return (folder / CASCADE).exists()


def open_predictor(
    folder: Path, engine: str = "", threads: int | None = None, max_tokens: int | None = None
) -> Predictor:
    """The predictor of a folder: a cascade or a single model."""
    return (Cascade if is_cascade(folder) else Predictor)(folder, engine, threads, max_tokens)


def engines_of(folder: Path) -> list[str]:
    """The engines that can run a model, or every model of a cascade, in the order of preference."""
    if not is_cascade(folder):
        return usable_engines(folder)
    plan = read_cascade_plan(folder)
    found = [
        [name for name in usable_engines(home) if len(steps) == 1 or supports_exits(name)]
        for home, (_, steps) in zip(model_folders(folder, plan), by_folder(plan.steps), strict=True)
    ]
    return [name for name in found[0] if all(name in others for others in found)]


def read_cascade_plan(folder: Path) -> CascadePlan:
    where = file_inside(folder, CASCADE)
    values = strict_json.load(where, MAX_BYTES, 10_000)
    if not isinstance(values, dict):
        raise InputError(f"{where}: must be a table")
    plan = check(CascadePlan, values, str(where))
    groups = by_folder(plan.steps)
    if len({name for name, _ in groups}) < len(groups):
        raise InputError(f"{where}: names a folder twice; each model has its own, and its exits follow each other")
    return plan


def by_folder(steps: Sequence[CascadeStep]) -> list[tuple[str, list[CascadeStep]]]:
    """The steps of each model, in their order."""
    return [(name, list(some)) for name, some in groupby(steps, key=lambda step: step.folder)]


def engine_with_exits(home: Path, engine: str) -> str:
    """The engine of a model with exits: the one given, or the first that supports exits; of these native is the fastest."""
    there = usable_engines(home)
    first = ["native"] if engine == "auto" and "native" in there else []
    names = [engine] if engine not in ("", "auto") else [*first, *there]
    found = next((name for name in names if supports_exits(name)), None)
    if found is None:
        raise InputError(
            f"{home}: has early exits, which engine '{engine}' does not support; use native, onnx or torch"
        )
    return found


def supports_exits(engine: str) -> bool:
    return issubclass(RUNTIMES.load(engine, Runtime), EarlyExitRuntime)


def usable_exits(model: Predictor) -> list[int]:
    """The layers after which a model has an exit that a cascade can use."""
    return model.exits if model.answer_type.supports_early_exit else []


def check_exits(model: Predictor, steps: Sequence[CascadeStep]) -> None:
    """A model has either no exit in the cascade or all of its exits."""
    layers = [step.layers for step in steps]
    if layers not in ([0], [*usable_exits(model), 0]):
        raise InputError(
            f"{model.folder}: the cascade has exits after layers {layers[:20]} (0: the last), and the model after {usable_exits(model) or 'the last only'}; create the cascade again"
        )


def check_temperatures(model: Predictor, steps: Sequence[CascadeStep]) -> None:
    if not isinstance(model.answer_type, ChoosesOne) and any(step.temperature != 1 for step in steps):
        raise InputError(
            f"{model.folder}: the cascade gives it a temperature, which only models that choose one label have; create the cascade again"
        )


def model_folders(folder: Path, plan: CascadePlan) -> list[Path]:
    """The folder of each model. Rejects folders outside the cascade, missing ones, and cascades."""
    found = []
    for name, _ in by_folder(plan.steps):
        home = folder_inside(folder, name)
        if not home.is_dir():
            raise InputError(
                f"{folder / CASCADE}: names the model '{name}', which does not exist; create the cascade again"
            )
        if is_cascade(home):
            raise InputError(f"{home}: is a cascade; a cascade consists of single models")
        found.append(home)
    return found


def check_compatible(models: Sequence[tuple[object, Predictor]]) -> None:
    """All models must have the same labels and answer type, with a confidence. Models come with the name for messages."""
    first_name, first = models[0]
    for name, model in models:
        kind, other = answer_type_name(model), answer_type_name(first)
        if not isinstance(model.answer_type, HasConfidence):
            raise InputError(f"{name}: its answer type {kind} has no confidence, which a cascade needs")
        if kind != other:
            raise InputError(f"{name}: has the answer type {kind}, {first_name} has {other}; all must have the same")
        if model.labels != first.labels:
            raise InputError(
                f"{name}: its labels are {model.labels[:20]}, those of {first_name} are {first.labels[:20]}; all must have the same"
            )
        if not model.answer_type.same_outputs_as(first.answer_type):
            raise InputError(
                f"{name}: its sense inventory differs from that of {first_name}; use models with the same inventory"
            )


def answer_type_name(model: Predictor) -> str:
    """The name of its answer type."""
    return str(model.answer_type.to_json()["kind"])
