"""Writes a model whose trunk is merged from those of several models. Heads for different tasks stay apart, as heads of its folder."""

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from torch import Tensor

from niwaki.core.errors import InputError, UsageError
from niwaki.core.files import commit_folder, require_writable
from niwaki.engines.export import write_graph
from niwaki.engines.native.program_file import write_program
from niwaki.models.merging import average, task_arithmetic, ties
from niwaki.models.model import Model, load_folder
from niwaki.models.tokenizer_loading import TOKENIZER
from niwaki.models.trunk import is_of_head
from niwaki.run.add_head import add_head

ARITHMETIC_WEIGHT = 0.4  # of each task vector, as in the paper where no validation rows choose it


def merge(
    sources: Mapping[str, Path], out: Path, how: str, base: Path | None, weights: Sequence[float], density: float
) -> dict[str, Path]:
    """Writes the folder `out`; returns for each source, by name, the folder that answers its task. The first one's head is that of `out`;
    others with the same labels are merged into it, and the rest are its further heads."""
    check(sources, how, base, weights, density)
    require_writable(out)
    if out.exists() and any(out.iterdir() if out.is_dir() else [out]):
        raise InputError(f"{out}: exists already; remove it, or choose another folder with --out")
    models = {name: load_folder(folder) for name, folder in sources.items()}
    start = load_folder(base) if base is not None else None
    names, model = list(models), next(iter(models.values()))
    for name, folder in sources.items():
        check_alike(sources[names[0]], model, folder, models[name])
    if start is not None and base is not None:
        check_alike(sources[names[0]], model, base, start)
    factors = list(weights) or [ARITHMETIC_WEIGHT if how == "arithmetic" else 1.0] * len(models)
    trunks = [trunk_of(one) for one in models.values()]
    merged = merged_trunk(how, trunk_of(start) if start else None, trunks, factors, density)
    joined = [name for name, one in models.items() if same_head(model, one)]
    heads = average([head_of(models[name]) for name in joined], [factors[names.index(name)] for name in joined])
    with commit_folder(out) as folder, tempfile.TemporaryDirectory() as scratch:
        filled(model, {**merged, **heads}).save(folder)
        write_graph(model, folder)
        write_program(model, folder)
        for name in names:
            if name not in joined:
                target = Path(scratch) / name
                target.mkdir()
                filled(models[name], merged).save(target)
                add_head(folder, target, name)
    return {name: out if name in joined else out / "heads" / name for name in names}


def check(sources: Mapping[str, Path], how: str, base: Path | None, weights: Sequence[float], density: float) -> None:
    if len(sources) < 2 and not (sources and base is not None):
        raise UsageError("merge: give at least two models, or one and the model that it was tuned from with --base")
    if (base is None) == (how != "average"):
        raise UsageError(
            "merge: average needs no --base; leave it out"
            if base is not None
            else f"merge: {how} needs the model that all were tuned from; give --base, or --how average"
        )
    if weights and len(weights) != len(sources):
        raise UsageError(f"merge: {len(weights)} weights for {len(sources)} models; give one for each")
    if how == "average" and weights and (min(weights) < 0 or sum(weights) <= 0):
        raise UsageError("merge: weights of an average are 0 or more, and one of them is more")
    if not 0 < density <= 1:
        raise UsageError(f"merge: density must be above 0 and at most 1 (given: {density:g})")


def merged_trunk(
    how: str,
    base: Mapping[str, Tensor] | None,
    trunks: Sequence[Mapping[str, Tensor]],
    weights: Sequence[float],
    density: float,
) -> dict[str, Tensor]:
    if base is None:
        return average(trunks, weights)
    return ties(base, trunks, weights, density) if how == "ties" else task_arithmetic(base, trunks, weights)


def check_alike(first: Path, model: Model, folder: Path, other: Model) -> None:
    """Raises InputError unless the trunks have the same tensors, tokens and no packed weights."""
    ours, theirs = trunk_of(model), trunk_of(other)
    different = [name for name in sorted(ours.keys() | theirs.keys()) if shape(ours, name) != shape(theirs, name)]
    if different:
        raise InputError(
            f"{folder}: '{different[0]}' has another shape than in {first}; merge models that were tuned from the same one"
        )
    if model.blueprint.edits or other.blueprint.edits:
        edited = first if model.blueprint.edits else folder
        raise InputError(
            f"{edited}: is compressed or has a delta; merge before compressing, and deltas with merge = true"
        )
    if model.anatomy.is_seq2seq:
        raise InputError(f"{first}: generates text; merging is for encoders with a head")
    if (first / TOKENIZER).read_bytes() != (folder / TOKENIZER).read_bytes():
        raise InputError(f"{folder}: its {TOKENIZER} differs from that of {first}; merged models share the tokens")


def shape(weights: Mapping[str, Tensor], name: str) -> tuple[int, ...] | None:
    return tuple(weights[name].shape) if name in weights else None


def trunk_of(model: Model) -> dict[str, Tensor]:
    body = model.anatomy.family.body
    return {name: value for name, value in model.network.state_dict().items() if not is_of_head(name, body)}


def head_of(model: Model) -> dict[str, Tensor]:
    body = model.anatomy.family.body
    return {name: value for name, value in model.network.state_dict().items() if is_of_head(name, body)}


def same_head(first: Model, other: Model) -> bool:
    """Whether both answer the same question: the same kind of answer and the same labels."""
    keys = ("niwaki_answer", "problem_type")
    alike = all(getattr(first.network.config, key, None) == getattr(other.network.config, key, None) for key in keys)
    own, theirs = head_of(first), head_of(other)
    return (
        alike
        and first.labels == other.labels
        and {n: v.shape for n, v in own.items()} == {n: v.shape for n, v in theirs.items()}
    )


def filled(model: Model, weights: Mapping[str, Tensor]) -> Model:
    """The model with these weights instead of its own of the same names."""
    state = model.network.state_dict()
    model.network.load_state_dict({name: weights.get(name, value) for name, value in state.items()})
    return model
