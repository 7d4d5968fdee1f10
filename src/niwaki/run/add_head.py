"""Adds the head of a trained model, and its delta, to a model folder with the same trunk, so that both tasks share one encoder."""

from pathlib import Path
from typing import TYPE_CHECKING

from niwaki.core.errors import InputError
from niwaki.core.files import commit_folder, write_json
from niwaki.core.head_folder import HEAD_WEIGHTS, head_path, is_head_folder
from niwaki.core.model_integrity import check_unchanged, is_stage_model
from niwaki.models.config_rules import CONFIG
from niwaki.models.tokenizer_loading import TOKENIZER
from niwaki.models.trunk import (
    is_of_delta,
    is_of_head,
    is_of_pooler,
    names_with_deltas,
    pooler_tensors,
    trunk_config,
    trunk_tensors,
    write_trunk_digest,
)

if TYPE_CHECKING:
    from niwaki.models.model import Model

RESERVED = ("all", "main")  # every head, and the head of the model folder itself


def add_head(folder: str | Path, model: str | Path, name: str) -> Path:
    """Stores the head of `model` as `heads/<name>` in `folder`, and returns that folder. `niwaki.load(folder, head=name)` loads it.

    The trunks must be equal bit by bit, but for deltas and biases, which are stored with the head: start from `folder` and train the head
    with `freeze` and all layers, or with `bitfit`, `adapters`, `prompt_tuning`, `prefix_tuning`, or with `lora` or `ia3` and merge = false.
    """
    from niwaki.engines.head_graph import write_head_graph
    from niwaki.models.model import load_folder

    root, source = Path(folder).expanduser(), Path(model).expanduser()
    target = head_path(root, name)
    _check_target(root, target)
    source_model = load_folder(source)
    if source_model.anatomy.is_seq2seq:
        raise InputError(f"{source}: generates text, and its decoder is no head that can be added; keep it as a model")
    if getattr(source_model.network.config, "niwaki_exits", None):
        raise InputError(f"{source}: has early exits, which belong to one head; train the head without method 'exits'")
    biases = _check_same_trunk(root, source)
    shares_pooler = len(pooler_tensors(source)) > 0 and pooler_tensors(source) == pooler_tensors(root)
    with commit_folder(target) as temporary:
        _save_head(source_model, temporary, biases, shares_pooler)
        write_trunk_digest(temporary, root, shares_pooler)
        write_head_graph(source_model, root, temporary, name)
    return target


def _check_target(root: Path, target: Path) -> None:
    from niwaki.models.model import check_is_model

    check_is_model(root)
    if is_head_folder(root):
        raise InputError(f"{root}: is a head; add heads to the model folder that contains it")
    if is_stage_model(root.resolve()):
        raise InputError(
            f"{root}: belongs to a finished stage; write a copy with `niwaki export`, and add heads to that"
        )
    if target.name in RESERVED:
        raise InputError(
            f"{target}: '{target.name}' means something else to `niwaki predict --heads`; choose another name"
        )
    if target.exists():
        raise InputError(f"{target}: is there already; remove the folder, or choose another name")
    check_unchanged(root)


def _check_same_trunk(root: Path, source: Path) -> set[str]:
    """The names of the biases that differ, in the source. Raises InputError if more differs than a delta."""
    from niwaki.models.model import skeleton_of
    from niwaki.models.saved_files import config_of
    from niwaki.models.sizes import constants

    ours, found = trunk_tensors(root), trunk_tensors(source)
    renamed = names_with_deltas(ours, found)
    theirs = {own: found[name] for own, name in renamed.items()} if renamed else found
    names = ours.keys() | theirs.keys()
    differing = {name for name in names if ours.get(name) != theirs.get(name)}
    if not differing <= {name for name in ours.keys() & theirs.keys() if name.endswith(".bias")}:
        raise InputError(
            f"{source}: {len(differing)} of {len(names)} trunk tensors differ from those of {root}, e.g. '{min(differing)}'; "
            "train the head from that folder with method 'freeze' and all layers, or with a delta that is not merged, e.g. 'lora' and merge = false"
        )
    shapes = [skeleton_of(home) for home in (root, source)]
    first, second = (trunk_config(config_of(shape.network)) for shape in shapes)
    if keys := sorted(key for key in first.keys() | second.keys() if first.get(key) != second.get(key)):
        raise InputError(f"{source}: '{keys[0]}' of its {CONFIG} differs from that of {root}, so the trunks differ")
    if constants(shapes[0].anatomy) != constants(shapes[1].anatomy):
        raise InputError(f"{source}: its attention heads differ from those of {root}, so the trunks differ")
    if (root / TOKENIZER).read_bytes() != (source / TOKENIZER).read_bytes():
        raise InputError(f"{source}: its {TOKENIZER} differs from that of {root}; heads share the tokenizer")
    return {renamed.get(name, name) for name in differing}


def _save_head(model: "Model", folder: Path, biases: set[str], shares_pooler: bool) -> None:
    from safetensors.torch import save_file

    from niwaki.models.model import BLUEPRINT
    from niwaki.models.ties import unique_tensors

    body = model.anatomy.family.body
    tensors = {
        name: value
        for name, value in unique_tensors(model.network).items()
        if (is_of_head(name, body) and not (shares_pooler and is_of_pooler(name)))
        or is_of_delta(name)
        or name in biases
    }
    save_file(tensors, folder / HEAD_WEIGHTS, metadata={"format": "pt"})
    write_json(folder / CONFIG, model.config())
    if model.blueprint.edits:
        write_json(folder / BLUEPRINT, model.blueprint.to_json())
    for name, content in model.sibling_files.items():
        (folder / name).write_bytes(content)
