"""Exports a saved model for one engine, and compares its predictions with those of the source."""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from niwaki.answers._answer_type import Input, Value
from niwaki.answers._from_config import answer_type_of, labels_of
from niwaki.answers._images import ImageInputs
from niwaki.core.errors import GateMissed, InputError, UsageError, did_you_mean
from niwaki.core.files import commit_folder
from niwaki.core.json_types import Json
from niwaki.data.sample_images import sample_images
from niwaki.engines import RUNTIMES
from niwaki.engines.engine_choice import export_targets
from niwaki.engines.export import write_graph
from niwaki.engines.hub_layout import HUB, write_hub_layout
from niwaki.engines.native.program_file import write_program
from niwaki.engines.predictor import Predictor
from niwaki.engines.runtime import Runtime
from niwaki.engines.scheduler import NotFinite
from niwaki.evaluate.quality import difference, quality
from niwaki.models.config_rules import read as read_config
from niwaki.models.deltas._delta import tuned_paths
from niwaki.models.edits.int8 import Int8
from niwaki.models.edits.merge_deltas import MergeDeltas
from niwaki.models.model import Model, load_folder
from niwaki.models.packed.int8 import Int8Linear
from niwaki.models.packed.static import StaticInt8Linear
from niwaki.models.packed.store import StoredLinear
from niwaki.models.published_answer import with_published_answer
from niwaki.run.runner import quiet_libraries
from niwaki.tasks._model_check import check_model_matches
from niwaki.tasks._task import Task

PRECISIONS = ("", "int8", "float")
SAME_ANSWERS = 0.97  # without a task: the share of texts that must get the same answer
TEXTS = 256


def export(source: Path, to: str, out: Path, precision: str, task: Task | None, tolerance: float) -> Json:
    """Writes the folder `out` and returns the comparison. Raises GateMissed, and writes nothing, if the predictions differ too much."""
    check_options(to, out, precision)
    engine_name = "onnx" if to == HUB else to
    engine: type[Runtime] = RUNTIMES.load(engine_name, Runtime)
    quiet_libraries()
    model = load_folder(source)
    if model.anatomy.is_seq2seq and not engine.supports_seq2seq:
        raise InputError(engine.generation_unsupported(source))
    if missing_requirement := engine.missing_requirement():
        raise InputError(missing_requirement)
    if task is not None:
        config = with_published_answer(source, read_config(source))
        check_model_matches(task, answer_type_of(config, str(source)), labels_of(config, str(source)), source)
    if to == "native" and any(tuned_paths(model.network)):
        model.apply_edit(MergeDeltas())  # its kernels know no deltas
    rounded = precision == "int8" or (to == "native" and not precision and has_floats(model))
    if rounded and has_floats(model):
        model.apply_edit(Int8())
    with commit_folder(out) as folder:
        model.save(folder)
        write_graph(model, folder)
        if to == HUB:
            write_hub_layout(folder)
        reason = write_program(model, folder)
        if to == "native" and reason:
            raise InputError(f"{source}: {reason}")
        summary = {"source": str(source), "out": str(out), "engine": engine_name, "int8": rounded}
        try:
            summary |= compare_engines(source, folder, engine_name, task)
        except NotFinite as found:
            if found.folder == source:
                raise
            raise GateMissed(
                f"{out}: not written: its logits are not finite in the {engine_name} engine; --precision float keeps the weights as they are"
            ) from None
        summary["bytes"] = [bytes_in(source), bytes_in(folder)]
        check_parity(summary, tolerance)
    return summary


def check_options(to: str, out: Path, precision: str) -> None:
    if to not in (targets := [*export_targets(), HUB]):
        raise UsageError(f"--to {to}: is not an engine{did_you_mean(to, targets)}")
    if precision not in PRECISIONS:
        raise UsageError(f"--precision {precision}: must be int8 or float, or empty")
    if out.exists() and any(out.iterdir() if out.is_dir() else [out]):
        raise InputError(f"{out}: exists already; remove it, or choose another folder with --out")


def bytes_in(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def has_floats(model: Model) -> bool:
    """Whether any matrix of the encoder is multiplied as floats."""
    packed = (Int8Linear, StaticInt8Linear)
    modules = [model.network.get_submodule(path) for path in model.anatomy.matrices()]
    return any(
        not isinstance(module, packed) and not (isinstance(module, StoredLinear) and module.store.integers)
        for module in modules
    )


def compare_engines(source: Path, exported: Path, engine: str, task: Task | None) -> Json:
    """Compares the exported model in its engine with the source in torch: logits, answers and, with a task, scores."""
    original = Predictor(source, "torch")
    inputs = list(task.inputs(task.splits()["test"])) if task else texts_for(original)
    before = predict(original, inputs)  # first, so that an error names the source if the source causes it
    converted = Predictor(exported, engine)
    after = predict(converted, inputs)
    same = float(np.mean([original.answer_type.same(a, b) for a, b in zip(before.values, after.values, strict=True)]))
    differences = np.abs(before.logits - after.logits)
    summary = {
        "texts": len(inputs),
        "remark": converted.runtime.remark,
        "same_answers": same,
        "logits_apart": {"mean": float(differences.mean()), "most": float(differences.max())},
    }
    if task is None:
        return summary
    example_stats = [task.scorer.example_stats(output.values, task.splits()["test"]) for output in (before, after)]
    scores = [quality(task, stats) for stats in example_stats]
    paired = difference(task, [example_stats[1]], [example_stats[0]])
    return {
        **summary,
        "task": task.name,
        "metric": scores[0]["metric"],
        "scores": [score["value"] for score in scores],
        "paired": paired,
    }


class EngineOutput(NamedTuple):
    logits: np.ndarray
    values: list[Value]


def predict(predictor: Predictor, inputs: list[Input]) -> EngineOutput:
    rows = predictor.tokenize(inputs)
    logits = predictor.logits(rows)
    return EngineOutput(logits, predictor.decode_answers(logits, rows, inputs, bare=True))


def texts_for(predictor: Predictor) -> list[Input]:
    """Sentences of the embedded reviews, or parts of photographs, as inputs of the model's answer type."""
    if isinstance(predictor.answer_type, ImageInputs):
        return [*sample_images()]
    from niwaki.tasks.rotten_tomatoes import imdb_sentences

    kind = predictor.answer_type.to_json()["kind"]
    if kind in ("span", "choice", "verified", "image_caption"):
        raise InputError(
            f"export: a model that answers with a {kind} is compared on rows of its task; name it with --task or --data"
        )
    sentences = imdb_sentences(TEXTS, 0)
    if kind == "senses":
        return [predictor.answer_type.check(text) for text in sentences]
    return [text.split() for text in sentences] if kind in ("tags", "roles") else list(sentences)


def check_parity(summary: Json, tolerance: float) -> None:
    """Raises GateMissed if the exported model scores worse than its source by more than the tolerance, or gives other answers too often."""
    if "scores" in summary:
        source, exported = summary["scores"]
        if source - exported > tolerance:
            raise GateMissed(
                f"{summary['out']}: not written: {summary['metric']} {exported:.4f} in the {summary['engine']} engine, {source:.4f} before, more than "
                f"{tolerance} apart; --precision float keeps the weights as they are, --tolerance allows more"
            )
    elif summary["same_answers"] < SAME_ANSWERS:
        raise GateMissed(
            f"{summary['out']}: not written: {summary['same_answers']:.1%} of {summary['texts']} texts are answered as before, fewer than {SAME_ANSWERS:.0%}; "
            "--precision float keeps the weights as they are, and --task scores it on rows that it is for"
        )
