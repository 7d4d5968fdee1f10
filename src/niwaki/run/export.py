"""Writes a saved model as one engine wants it, and lets it pass only if it answers as its source does."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from niwaki.answers._answer_type import Input, Value
from niwaki.answers._from_config import answer_type_of, labels_of
from niwaki.core.errors import GateMissed, InputError, UsageError, did_you_mean
from niwaki.core.files import commit_folder
from niwaki.engines import RUNTIMES
from niwaki.engines.engine_choice import export_targets
from niwaki.engines.export import write_graph
from niwaki.engines.native.program_file import write_program
from niwaki.engines.predictor import Predictor
from niwaki.engines.runtime import Runtime
from niwaki.engines.scheduler import NotFinite
from niwaki.evaluate.quality import difference, quality
from niwaki.models.config_rules import read as read_config
from niwaki.models.edits.int8 import Int8
from niwaki.models.model import Model, load_folder
from niwaki.models.packed.int8 import Int8Linear
from niwaki.models.packed.static import StaticInt8Linear
from niwaki.models.packed.store import StoredLinear
from niwaki.run.runner import quiet_libraries
from niwaki.tasks._model_check import check_model_matches
from niwaki.tasks._task import Task

PRECISIONS = ("", "int8", "float")
SAME_ANSWERS = 0.97  # without a task: so many texts must be answered alike
TEXTS = 256


def export(source: Path, to: str, out: Path, precision: str, task: Task | None, tolerance: float) -> dict[str, Any]:
    """The folder `out`, and what the gate saw. Nothing is written where the gate is missed."""
    if to not in (targets := export_targets()):
        raise UsageError(f"--to {to}: is not an engine{did_you_mean(to, targets)}")
    if precision not in PRECISIONS:
        raise UsageError(f"--precision {precision}: write int8 or float, or nothing")
    if out.exists() and any(out.iterdir() if out.is_dir() else [out]):
        raise InputError(f"{out}: is there already; remove it, or choose another folder with --out")
    engine: type[Runtime] = RUNTIMES.load(to, Runtime)
    quiet_libraries()
    model = load_folder(source)
    if model.anatomy.is_seq2seq and not engine.supports_seq2seq:
        raise InputError(engine.generation_unsupported(source))
    if missing_requirement := engine.missing_requirement():
        raise InputError(missing_requirement)
    if task is not None:
        config = read_config(source)
        check_model_matches(task, answer_type_of(config, str(source)), labels_of(config, str(source)), source)
    rounded = precision == "int8" or (to == "native" and not precision and has_floats(model))
    if rounded and has_floats(model):
        model.apply_edit(Int8())
    with commit_folder(out) as folder:
        model.save(folder)
        write_graph(model, folder)
        reason = write_program(model, folder)
        if to == "native" and reason:
            raise InputError(f"{source}: {reason}")
        told = {"source": str(source), "out": str(out), "engine": to, "int8": rounded}
        try:
            told |= compare_engines(source, folder, to, task)
        except NotFinite as found:
            if found.folder == source:
                raise
            raise GateMissed(
                f"{out}: not written: its logits are not finite in the {to} engine; --precision float keeps the weights as they are"
            ) from None
        told["bytes"] = [sum(path.stat().st_size for path in one.iterdir()) for one in (source, folder)]
        check_parity(told, tolerance)
    return told


def has_floats(model: Model) -> bool:
    """Whether any matrix of the encoder is multiplied as floats."""
    packed = (Int8Linear, StaticInt8Linear)
    found = [model.network.get_submodule(path) for path in model.anatomy.matrices()]
    return any(
        not isinstance(one, packed) and not (isinstance(one, StoredLinear) and one.store.integers) for one in found
    )


def compare_engines(source: Path, made: Path, engine: str, task: Task | None) -> dict[str, Any]:
    """The artifact in its engine beside its source in torch: logits and answers, and with a task its score."""
    one = Predictor(source, "torch")
    inputs = list(task.inputs(task.splits()["test"])) if task else texts_for(one)
    before = predict(one, inputs)  # first, so that a source that cannot answer is refused by its own name
    other = Predictor(made, engine)
    after = predict(other, inputs)
    same = float(np.mean([one.answer_type.same(a, b) for a, b in zip(before.values, after.values, strict=True)]))
    apart = np.abs(before.logits - after.logits)
    told = {
        "texts": len(inputs),
        "remark": other.runtime.remark,
        "same_answers": same,
        "logits_apart": {"mean": float(apart.mean()), "most": float(apart.max())},
    }
    if task is None:
        return told
    example_stats = [task.scorer.example_stats(found.values, task.splits()["test"]) for found in (before, after)]
    scores = [quality(task, found) for found in example_stats]
    paired = difference(task, [example_stats[1]], [example_stats[0]])
    return {
        **told,
        "task": task.name,
        "metric": scores[0]["metric"],
        "scores": [score["value"] for score in scores],
        "paired": paired,
    }


class EngineOutput(NamedTuple):
    logits: np.ndarray
    values: list[Value]


def predict(predictor: Predictor, inputs: list[Input]) -> EngineOutput:
    rows = predictor.encode(inputs)
    logits = predictor.logits(rows)
    return EngineOutput(logits, predictor.decode_answers(logits, rows, inputs, bare=True))


def texts_for(predictor: Predictor) -> list[Input]:
    """Sentences of the embedded reviews, in the form that the model reads."""
    from niwaki.tasks.rotten_tomatoes import imdb_sentences

    form = predictor.answer_type.to_json()["kind"]
    if form in ("span", "choice"):
        raise InputError(
            f"export: a model that answers with a {form} is compared on rows of its task; name it with --task or --data"
        )
    found = imdb_sentences(TEXTS, 0)
    if form == "senses":
        return [predictor.answer_type.check(text) for text in found]
    return [text.split() for text in found] if form in ("tags", "roles") else list(found)


def check_parity(told: dict[str, Any], tolerance: float) -> None:
    """GateMissed where the artifact is worse than its source by more than the tolerance, or answers otherwise too often."""
    if "scores" in told:
        source, made = told["scores"]
        if source - made > tolerance:
            raise GateMissed(
                f"{told['out']}: not written: {told['metric']} {made:.4f} in the {told['engine']} engine, {source:.4f} before, more than "
                f"{tolerance} apart; --precision float keeps the weights as they are, --tolerance allows more"
            )
    elif told["same_answers"] < SAME_ANSWERS:
        raise GateMissed(
            f"{told['out']}: not written: {told['same_answers']:.1%} of {told['texts']} texts are answered as before, fewer than {SAME_ANSWERS:.0%}; "
            "--precision float keeps the weights as they are, and --task scores it on rows that it is for"
        )
