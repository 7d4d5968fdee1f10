"""A model: network, tokenizer and blueprint, moving together. Saved as safetensors and JSON, never as code."""

import contextlib
import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from niwaki.answers._from_config import answer_files_of, is_bare_encoder
from niwaki.core import strict_json
from niwaki.core.errors import InputError
from niwaki.core.files import require_memory, write_json
from niwaki.core.head_folder import is_head_folder, trunk_folder, weight_files
from niwaki.core.json_types import Json
from niwaki.core.model_integrity import check_unchanged
from niwaki.core.path_safety import file_inside
from niwaki.core.shards import is_sharded, shard_files, stored_tensors
from niwaki.core.tensor_file import read_header
from niwaki.models.adapting import published
from niwaki.models.anatomy import Anatomy, Network, anatomy_of
from niwaki.models.blueprint import Blueprint, is_stock
from niwaki.models.config_rules import CONFIG, MAX_BYTES
from niwaki.models.edit import Edit
from niwaki.models.family import family_of
from niwaki.models.head import Head, no_head
from niwaki.models.head_labels import has_other_labels, label_order, labels_in, name_labels
from niwaki.models.input_readers import load_reader, save_reader
from niwaki.models.meta_device import on_meta_device
from niwaki.models.networks.bare_encoder import BareEncoder
from niwaki.models.new_head import needs_new_head, with_new_head, with_random_head
from niwaki.models.packed.sparse import Sparse, check_sparse_stores
from niwaki.models.pairs import separate_texts
from niwaki.models.published_answer import published_files, with_published_answer
from niwaki.models.saved_files import EDITED_FORMAT, STOCK_FORMAT, config_of, saved_config
from niwaki.models.sentence_modules import with_published_pooling, write_modules
from niwaki.models.skeleton import build, checked_config, read_config
from niwaki.models.stock import WEIGHTS, load_stock
from niwaki.models.ties import unique_tensors, with_tied_names
from niwaki.models.trunk import check_trunk, is_of_head, with_head

BLUEPRINT = "blueprint.json"
EXTRA_CONFIG_KEYS = (
    *("pad_token_id", "sep_token_id", "bos_token_id", "eos_token_id"),
    *("decoder_start_token_id", "forced_bos_token_id", "forced_eos_token_id"),
    "niwaki_max_tokens",
    "niwaki_answer",
    "niwaki_pooling",
    *("niwaki_exits", "niwaki_head_order"),
    "problem_type",
)  # what config.json adds to the shape that a blueprint gives


@dataclass
class Model:
    """`network` is a transformers model, edited only through `apply_edit`."""

    network: Network
    tokenizer: Any  # a transformers fast tokenizer, or the preprocessor of images (input_readers.py)
    blueprint: Blueprint = field(default_factory=Blueprint)
    sibling_files: dict[str, bytes] = field(default_factory=dict)  # files that the kind of answer needs, by name

    @property
    def anatomy(self) -> Anatomy:
        return anatomy_of(self.network)

    @property
    def labels(self) -> list[str]:
        names = self.network.config.id2label
        return [str(names[number]) for number in sorted(names)]

    def clone(self) -> "Model":
        return copy.deepcopy(self)

    def apply_edit(self, edit: Edit) -> None:
        """The only door to change structure: does the edit and writes it into the blueprint."""
        if not self.blueprint.edits:
            self.blueprint.base = config_of(self.network)
        edit.apply(self.network, self.anatomy)
        self.blueprint.edits.append(edit.for_blueprint())
        if is_stock(self.network):
            self.blueprint = Blueprint()

    def parameters(self) -> int:
        """Numbers that the model stores, packed or not; a shared one counts once."""
        return sum(value.numel() for value in unique_tensors(self.network).values())

    def tensors(self) -> dict[str, torch.Tensor]:
        """The content of model.safetensors. Without edits, tensors have the names and the layout of published checkpoints."""
        found = unique_tensors(self.network)
        return found if self.blueprint.edits else published(self.network, self.anatomy.family, found)

    def config(self) -> Json:
        """The content of config.json."""
        return saved_config(self.network, edited=bool(self.blueprint.edits))

    def save(self, folder: Path) -> None:
        """Writes the Hugging Face layout into an existing folder; atomicity is the caller's (`core.files.commit_folder`)."""
        from safetensors.torch import save_file

        config = self.config()
        save_file(
            self.tensors(),
            folder / WEIGHTS,
            metadata=EDITED_FORMAT if self.blueprint.edits else STOCK_FORMAT,
        )
        write_json(folder / CONFIG, config)
        save_reader(self.tokenizer, folder, config)
        if self.blueprint.edits:
            write_json(folder / BLUEPRINT, self.blueprint.to_json())
        for name, content in self.sibling_files.items():
            (folder / name).write_bytes(content)
        if isinstance(self.network, BareEncoder):
            dense = {} if self.network.dense is None else self.network.dense.state_dict()
            write_modules(folder, config, {name: value.numpy() for name, value in dense.items()})


def load_folder(folder: Path, head: Head | None = None) -> Model:
    """Reads a model from a folder: one niwaki saved, edited or not, any stock safetensors checkpoint, or a head folder.

    `head` asks for a head of that kind; without one the folder's own is taken.
    """
    check_is_model(folder)
    config = read_config(folder)
    stored = [stored_tensors(trunk_folder(folder)), *(read_header(path) for path in weight_files(folder)[1:])]
    require_memory(4 * sum(file.numel for file in stored), f"{folder}: loading its weights")
    check_unchanged(folder)
    check_trunk(folder)
    tokenizer = load_reader(trunk_folder(folder), config)
    if _is_stock_folder(folder):
        config, head = _published(folder, config, head)
        network = load_stock(folder, config, stored[0], head)
        return Model(network, tokenizer, sibling_files=_sibling_files(folder, config, head))
    blueprint, is_new = _edited_shape(folder, config, head)
    network = blueprint.replay()
    load_weights(network, weight_files(folder), new_head=is_new)
    extra = [key for key in EXTRA_CONFIG_KEYS if key != "niwaki_exits" or not is_new]  # exits read the old head
    network.config.update({key: config[key] for key in extra if key in config})
    if head:
        head.put_on(network, str(folder))
    else:
        name_labels(network, labels_in(config), str(folder))
    model = Model(network.eval(), tokenizer, blueprint, _sibling_files(folder, config, head))
    if not model.anatomy.is_seq2seq and model.anatomy.head.splits_pairs:
        separate_texts(tokenizer)
    return model


def _published(folder: Path, config: Json, head: Head | None) -> tuple[Json, Head | None]:
    """The config with the pooling that sentence-transformers' files state, and the head to load: none for a bare encoder. A head
    for a task needs no pooling, so those files may then describe one that niwaki does not have."""
    with contextlib.suppress(*([InputError] if head else [])):
        config = with_published_pooling(folder, config)
    config = config if head else with_published_answer(folder, config)
    return config, no_head(config) if head is None and is_bare_encoder(config) else head


def _is_stock_folder(folder: Path) -> bool:
    """Whether it is a stock model. Edited ones keep their head for tasks that it fits, head folders for all."""
    return not (folder / BLUEPRINT).exists() and not is_head_folder(folder)


def _read_blueprint(folder: Path, config: Json) -> Blueprint:
    if not (folder / BLUEPRINT).exists():
        return Blueprint(config)
    blueprint = Blueprint.from_json(strict_json.load(folder / BLUEPRINT, MAX_BYTES))
    blueprint.base = checked_config(blueprint.base, str(folder / BLUEPRINT))
    return blueprint


def _edited_shape(folder: Path, config: Json, head: Head | None) -> tuple[Blueprint, bool]:
    """The blueprint of an edited model with the head, and whether that head is a new one. A head folder keeps its head."""
    blueprint = _read_blueprint(folder, config)
    if head and not is_head_folder(folder) and needs_new_head(config, head):
        return with_new_head(blueprint, head), True
    if head and label_order(config, head.labels):
        raise InputError(
            f"{folder}: has the task's labels in another order, {labels_in(config)[:20]}, and an edited model keeps its head; make it anew"
        )
    return blueprint, False


def _sibling_files(folder: Path, config: Json, head: Head | None) -> dict[str, bytes]:
    """The folder's own files, or those of the task; a seq2seq network keeps the vocabulary that it was trained with."""
    if head is None:
        return sibling_files_of(folder, config)
    found, own, family = head.files(), sibling_files_of(folder, config), family_of(str(config["model_type"]))
    if (
        family.decoder is not None and found != own and (own or not family.decoder.has_own_tokenizer)
    ):  # a stock folder has none, and the task its own
        unlike = next(name for name in sorted({**found, **own}) if found.get(name) != own.get(name))
        raise InputError(
            f"{folder / unlike}: is not what the task's rows give, so the model would be trained on another vocabulary than it generates; "
            "set data.split and data.vocab_size as it was made, on the same train rows, or start from an encoder"
        )
    return found


def sibling_files_of(folder: Path, config: Json) -> dict[str, bytes]:
    """The files that the folder's kind of answer needs; others that lie there are not the model's."""
    found = published_files(folder, config)
    for name in answer_files_of(config) if not found else ():
        path = file_inside(folder, name)
        if not path.is_file():
            raise InputError(f"{path}: is missing; what the model answers with is in it")
        require_memory(path.stat().st_size, f"{path}: it")
        found[name] = path.read_bytes()
    return found


def skeleton_of(folder: Path, head: Head | None = None) -> Model:
    """The shape of a folder's model without weights and tokenizer; takes no memory."""
    config = read_config(folder)
    if not _is_stock_folder(folder):
        blueprint, _ = _edited_shape(folder, config, head)
        network = blueprint.replay()
        if head:
            head.put_on(network, str(folder))
        return Model(network, None, blueprint)
    config, head = _published(folder, config, head)
    if head:
        config = head.on(config)
    with on_meta_device():
        return Model(build(config), None)


def has_head(folder: Path, head: Head) -> bool:
    """Whether the folder's weights have such a head; without one it would be random."""
    config = read_config(folder)
    if has_other_labels(config, head.labels):
        return False
    if not _is_stock_folder(folder):
        return is_head_folder(folder) or not needs_new_head(config, head)
    network, there = skeleton_of(folder, head).network, stored_tensors(folder).tensors
    body = anatomy_of(network).family.body
    return all(
        name in there and tuple(there[name].shape) == tuple(value.shape)
        for name, value in unique_tensors(network).items()
        if is_of_head(name, body)
    )


def check_is_model(folder: Path) -> None:
    if not folder.is_dir():
        raise InputError(f"{folder}: is not a folder")
    for name in (CONFIG, WEIGHTS, BLUEPRINT):
        file_inside(folder, name)
    if not (folder / CONFIG).is_file():
        raise InputError(f"{folder}: is not a model, it has no {CONFIG}")
    if is_sharded(folder) and _is_stock_folder(folder):
        shard_files(folder)
    elif not all(path.is_file() for path in weight_files(folder)):
        pickles = [path.name for path in folder.iterdir() if path.suffix in (".bin", ".pt", ".pth", ".ckpt", ".pkl")]
        if pickles:
            raise InputError(
                f"{folder / pickles[0]}: is a pickle, which can run code when loaded, so it is not read; convert it once, where you "
                f"trust it: `python -m niwaki.convert_pickle --i-trust-this-file {pickles[0]} {WEIGHTS}`"
            )
        raise InputError(f"{folder}: has no {WEIGHTS}")


def load_weights(network: Network, paths: Sequence[Path], new_head: bool = False) -> None:
    """Fills the network from a safetensors file, or from those of trunk and head; every tensor must be there, in its shape, and
    no other. A new head is filled with random numbers."""
    path, body = paths[-1], anatomy_of(network).family.body
    state = _read_tensors(paths[0])
    if len(paths) > 1:
        state = with_head(state, _read_tensors(path), unique_tensors(network), body)
    state = with_random_head(network, state) if new_head else state
    check_tensors(network, path, state)
    copies = {name: value.clone() for name, value in state.items()}  # a loaded tensor is a view of the file on disk
    network.load_state_dict(with_tied_names(network, copies), strict=True, assign=True)
    check_sparse_stores(network, str(path))


def _read_tensors(path: Path) -> dict[str, torch.Tensor]:
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        return load_file(path)
    except (SafetensorError, OSError) as error:
        raise InputError(f"{path}: cannot be read, it is damaged or cut short ({error})") from None


def check_tensors(network: Network, path: Path, state: Mapping[str, torch.Tensor]) -> None:
    """Rejects tensors that are not exactly those of the network: names, shapes, types. They may be on the meta device."""
    for name, module in network.named_modules():
        if isinstance(module, Sparse):
            module.fit(name, {key: tuple(value.shape) for key, value in state.items()})
    own = unique_tensors(network)
    for name in sorted(own.keys() ^ state.keys()):
        raise InputError(f"{path}: tensor '{name}' is {'missing' if name in own else 'not part of this model'}")
    for name, value in state.items():
        if value.shape != own[name].shape or value.dtype != own[name].dtype:
            raise InputError(
                f"{path}: tensor '{name}' is {tuple(value.shape)} {value.dtype}, the model needs {tuple(own[name].shape)} {own[name].dtype}"
            )
