"""Writes a saved model as one engine wants it, and lets it pass only if it answers as its source does."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from niwaki.answers._choose import kind_of, labels_of
from niwaki.answers._kind import Input, Value
from niwaki.core.errors import GateMissed, Refused, UsageError, did_you_mean
from niwaki.core.files import committed
from niwaki.engines import RUNTIMES
from niwaki.engines.export import write_graph
from niwaki.engines.native.files import write_program
from niwaki.engines.predictor import NotFinite, Predictor
from niwaki.engines.runtime import Runtime
from niwaki.evaluate.quality import difference, quality
from niwaki.models.config_rules import read as read_config
from niwaki.models.edits.int8 import Int8
from niwaki.models.forms.int8 import Int8Linear
from niwaki.models.forms.static import StaticInt8Linear
from niwaki.models.forms.store import StoredLinear
from niwaki.models.model import Model, load_folder
from niwaki.run.runner import quiet_libraries
from niwaki.tasks._task import Task

ENGINES = ("native", "onnx", "openvino", "torch")
PRECISIONS = ("", "int8", "float")
SAME_ANSWERS = 0.97  # without a task: so many texts must be answered alike
TEXTS = 256


def export(source: Path, to: str, out: Path, precision: str, task: Task | None, tolerance: float) -> dict[str, Any]:
    """The folder `out`, and what the gate saw. Nothing is written where the gate is missed."""
    if to not in ENGINES:
        raise UsageError(f"--to {to}: is not an engine{did_you_mean(to, ENGINES)}")
    if precision not in PRECISIONS:
        raise UsageError(f"--precision {precision}: write int8 or float, or nothing")
    if out.exists() and any(out.iterdir() if out.is_dir() else [out]):
        raise Refused(f"{out}: is there already; remove it, or choose another folder with --out")
    engine: type[Runtime] = RUNTIMES.load(to, Runtime)
    quiet_libraries()
    model = load_folder(source)
    if model.anatomy.writes and not engine.writes:
        raise Refused(engine.no_writing(source))
    if lacking := engine.lacking():
        raise Refused(lacking)
    if task is not None:
        config = read_config(source)
        task.refuse_other(kind_of(config, str(source)), labels_of(config, str(source)), source)
    rounded = precision == "int8" or (to == "native" and not precision and has_floats(model))
    if rounded and has_floats(model):
        model.operate(Int8())
    with committed(out) as folder:
        model.save(folder)
        write_graph(model, folder)
        reason = write_program(model, folder)
        if to == "native" and reason:
            raise Refused(f"{source}: {reason}")
        told = {"source": str(source), "out": str(out), "engine": to, "int8": rounded}
        try:
            told |= compared(source, folder, to, task)
        except NotFinite as found:
            if found.folder == source:
                raise
            raise GateMissed(
                f"{out}: not written: its logits are not finite in the {to} engine; --precision float keeps the weights as they are"
            ) from None
        told["bytes"] = [sum(path.stat().st_size for path in one.iterdir()) for one in (source, folder)]
        refuse_apart(told, tolerance)
    return told


def has_floats(model: Model) -> bool:
    """Whether any matrix of the encoder is multiplied as floats."""
    packed = (Int8Linear, StaticInt8Linear)
    found = [model.network.get_submodule(path) for path in model.anatomy.matrices()]
    return any(
        not isinstance(one, packed) and not (isinstance(one, StoredLinear) and one.store.integers) for one in found
    )


def compared(source: Path, made: Path, engine: str, task: Task | None) -> dict[str, Any]:
    """The artifact in its engine beside its source in torch: logits and answers, and with a task its score."""
    one = Predictor(source, "torch")
    inputs = list(task.inputs(task.splits()["test"])) if task else texts_for(one)
    before = asked(one, inputs)  # first, so that a source that cannot answer is refused by its own name
    other = Predictor(made, engine)
    after = asked(other, inputs)
    same = float(np.mean([one.kind.same(a, b) for a, b in zip(before.values, after.values, strict=True)]))
    apart = np.abs(before.logits - after.logits)
    told = {
        "texts": len(inputs),
        "remark": other.runtime.remark,
        "same_answers": same,
        "logits_apart": {"mean": float(apart.mean()), "most": float(apart.max())},
    }
    if task is None:
        return told
    outcomes = [task.outcomes(found.values, task.splits()["test"]) for found in (before, after)]
    scores = [quality(task, found) for found in outcomes]
    paired = difference(task, [outcomes[1]], [outcomes[0]])
    return {
        **told,
        "task": task.name,
        "metric": scores[0]["metric"],
        "scores": [score["value"] for score in scores],
        "paired": paired,
    }


class Said(NamedTuple):
    logits: np.ndarray
    values: list[Value]


def asked(predictor: Predictor, inputs: list[Input]) -> Said:
    rows = predictor.encode(inputs)
    logits = predictor.logits(rows)
    return Said(logits, predictor.read(logits, rows, inputs, bare=True))


def texts_for(predictor: Predictor) -> list[Input]:
    """Sentences of the embedded reviews, in the form that the model reads."""
    from niwaki.tasks.rotten_tomatoes import imdb_sentences

    form = predictor.kind.to_json()["kind"]
    if form in ("span", "choice"):
        raise Refused(
            f"export: a model that answers with a {form} is compared on rows of its task; name it with --task or --data"
        )
    found = imdb_sentences(TEXTS, 0)
    if form == "senses":
        return [predictor.kind.check(text) for text in found]
    return [text.split() for text in found] if form in ("tags", "roles") else list(found)


def refuse_apart(told: dict[str, Any], tolerance: float) -> None:
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
