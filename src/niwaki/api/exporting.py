"""Writes a saved model for an engine, or its delta for peft."""

from collections.abc import Sequence
from pathlib import Path

from niwaki.api.task_choice import choose_task
from niwaki.core.json_types import Json
from niwaki.core.model_integrity import warn_unverified
from niwaki.run.model_path import model_path


def export(
    model: str | Path,
    to: str = "native",
    out: str | Path = "exported",
    *,
    precision: str = "",
    task: str = "",
    data: str | Path = "",
    overrides: Sequence[str] = (),
    tolerance: float = 0.005,
) -> Json:
    """Writes a model for an engine and compares it with its source. Raises GateMissed if the predictions differ too much."""
    from niwaki.run.export import export as write

    chosen = choose_task(task, data, overrides) if task or data else None
    folder = model_path(model, single=True)
    exported = write(folder, to, Path(out).expanduser(), precision, chosen, tolerance)
    warn_unverified(folder)
    return exported


def pack(model: str | Path, out: str | Path = "model.niwaki", processor: str = "") -> Json:
    """Writes the packed file of a model that `export` wrote for the native engine. `processor`: avx512, avx2, arm, wasm or any; this
    machine's by default."""
    from niwaki.engines.native.packed_file import pack as write

    return write(model_path(model, single=True), Path(out).expanduser(), processor)


def write_peft(model: str | Path, out: str | Path) -> Path:
    """Writes the LoRA, (IA)³, prompt or prefix of a model, or of a head folder, in the format of the peft package."""
    from niwaki.run.peft_format import write_peft as write

    return write(model_path(model, single=True), out)
