"""A model: network, tokenizer and blueprint, moving together. Saved as safetensors and JSON, never as code."""

import copy
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from niwaki.answers._from_config import answer_files_of
from niwaki.core import strict_json
from niwaki.core.errors import InputError, first_line
from niwaki.core.files import require_memory, write_json, write_text
from niwaki.core.model_integrity import check_unchanged
from niwaki.core.path_safety import file_inside
from niwaki.core.tensor_file import Header, read_header
from niwaki.models.anatomy import Anatomy, Network, anatomy_of
from niwaki.models.blueprint import Blueprint, is_stock
from niwaki.models.config_rules import CONFIG, MAX_BYTES
from niwaki.models.edit import Edit
from niwaki.models.family import family_of
from niwaki.models.head import PLAIN_UNITS, Head, rescale
from niwaki.models.head_labels import has_other_labels, label_order, labels_in, name_labels
from niwaki.models.packed.sparse import Sparse, check_sparse_stores
from niwaki.models.progress import without_progress_bars
from niwaki.models.skeleton import attention, build, checked_config, read_config
from niwaki.models.ties import unique_tensors, with_tied_names
from niwaki.models.tokenizer_loading import TOKENIZER, load_tokenizer

WEIGHTS, BLUEPRINT = "model.safetensors", "blueprint.json"
HEAD_NUMBERS = 20_000_000  # more than any head's
EXTRA_CONFIG_KEYS = (
    "pad_token_id",
    "sep_token_id",
    "niwaki_max_tokens",
    "niwaki_answer",
    "niwaki_exits",
    "problem_type",
)  # what config.json adds to the shape that a blueprint gives


@dataclass
class Model:
    """`network` is a transformers model, edited only through `apply_edit`."""

    network: Network
    tokenizer: Any  # a transformers fast tokenizer; `.backend_tokenizer` is what runs
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

    def save(self, folder: Path) -> None:
        """Writes the Hugging Face layout into an existing folder; atomicity is the caller's (`core.files.commit_folder`)."""
        from safetensors.torch import save_file

        save_file(unique_tensors(self.network), folder / WEIGHTS, metadata={"format": "pt"})
        write_json(folder / CONFIG, config_of(self.network))
        self.tokenizer.save_pretrained(folder)
        write_text(folder / TOKENIZER, compact((folder / TOKENIZER).read_text(encoding="utf-8")))
        if self.blueprint.edits:
            write_json(folder / BLUEPRINT, self.blueprint.to_json())
        for name, content in self.sibling_files.items():
            (folder / name).write_bytes(content)


def compact(text: str) -> str:
    """JSON without the spaces that transformers puts into it: of a tokenizer half its bytes."""
    return json.dumps(json.loads(text), ensure_ascii=False, separators=(",", ":"))


def config_of(network: Network) -> dict[str, Any]:
    """The config as it is saved: without private keys, which name the folder it came from."""
    return {key: value for key, value in network.config.to_dict().items() if not key.startswith("_")}


def load_folder(folder: Path, head: Head | None = None) -> Model:
    """Reads a model from a folder: one niwaki saved, edited or not, or any stock safetensors checkpoint.

    `head` asks for a head of that kind; without one the folder's own is taken.
    """
    check_is_model(folder)
    config = read_config(folder)
    found = read_header(folder / WEIGHTS)
    require_memory(4 * found.numel, f"{folder / WEIGHTS}: as numbers of 4 bytes it")
    check_unchanged(folder)
    tokenizer = load_tokenizer(folder, config)
    if not (folder / BLUEPRINT).exists():
        network = _load_stock(folder, config, found, head)
        return Model(network, tokenizer, sibling_files=_sibling_files(folder, config, head))
    blueprint = Blueprint.from_json(strict_json.load(folder / BLUEPRINT, MAX_BYTES))
    blueprint.base = checked_config(blueprint.base, str(folder / BLUEPRINT))
    network = blueprint.replay()
    load_weights(network, folder / WEIGHTS)
    network.config.update({key: value for key, value in config.items() if key in EXTRA_CONFIG_KEYS})
    if head:
        _check_label_order(folder, config, head)
        head.put_on(network, str(folder))
    else:
        name_labels(network, labels_in(config), str(folder))
    return Model(network.eval(), tokenizer, blueprint, _sibling_files(folder, config, head))


def _check_label_order(folder: Path, config: dict[str, Any], head: Head) -> None:
    if label_order(config, head.labels):
        raise InputError(
            f"{folder}: has the task's labels in another order, {labels_in(config)[:20]}, and an edited model keeps its head; make it anew"
        )


def _sibling_files(folder: Path, config: dict[str, Any], head: Head | None) -> dict[str, bytes]:
    """The folder's own files, or those of the task; a network that writes goes on with the pieces it has learnt."""
    if head is None:
        return sibling_files_of(folder, config)
    found, own, family = head.files(), sibling_files_of(folder, config), family_of(str(config["model_type"]))
    if (
        family.decoder is not None and found != own and (own or not family.decoder.has_own_tokenizer)
    ):  # a stock folder has none, and the task its own
        unlike = next(name for name in sorted({**found, **own}) if found.get(name) != own.get(name))
        raise InputError(
            f"{folder / unlike}: is not what the task's rows give, so the model would learn other pieces than it writes; "
            "set data.split and data.vocab_size as it was made, on the same train rows, or start from an encoder"
        )
    return found


def sibling_files_of(folder: Path, config: dict[str, Any]) -> dict[str, bytes]:
    """The files that the folder's kind of answer needs; others that lie there are not the model's."""
    found = {}
    for name in answer_files_of(config):
        path = file_inside(folder, name)
        if not path.is_file():
            raise InputError(f"{path}: is missing; what the model answers with is in it")
        require_memory(path.stat().st_size, f"{path}: it")
        found[name] = path.read_bytes()
    return found


def skeleton_of(folder: Path, head: Head | None = None) -> Model:
    """The shape of a folder's model without weights and tokenizer; takes no memory."""
    config = read_config(folder)
    if (folder / BLUEPRINT).exists():
        blueprint = Blueprint.from_json(strict_json.load(folder / BLUEPRINT, MAX_BYTES))
        blueprint.base = checked_config(blueprint.base, str(folder / BLUEPRINT))
        network = blueprint.replay()
        if head:
            _check_label_order(folder, config, head)
            head.put_on(network, str(folder))
        return Model(network, None, blueprint)
    if head:
        config = head.on(config)
    with torch.device("meta"):
        return Model(build(config), None)


def has_head(folder: Path, head: Head) -> bool:
    """Whether the folder's weights have such a head; without one it would be made up. An edited model keeps the one it has."""
    if has_other_labels(read_config(folder), head.labels):
        return False
    if (folder / BLUEPRINT).exists():
        return True
    network, there = skeleton_of(folder, head).network, read_header(folder / WEIGHTS).tensors
    body = anatomy_of(network).family.body
    return all(
        name in there and tuple(there[name].shape) == tuple(value.shape)
        for name, value in unique_tensors(network).items()
        if _of_head(name, body)
    )


def _of_head(name: str, body: str) -> bool:
    return not name.startswith(f"{body}.") or ".pooler." in name


def check_is_model(folder: Path) -> None:
    if not folder.is_dir():
        raise InputError(f"{folder}: is not a folder")
    for name in (CONFIG, WEIGHTS, BLUEPRINT):
        file_inside(folder, name)
    if not (folder / CONFIG).is_file():
        raise InputError(f"{folder}: is not a model, it has no {CONFIG}")
    if not (folder / WEIGHTS).is_file():
        pickles = [path.name for path in folder.iterdir() if path.suffix in (".bin", ".pt", ".pth", ".ckpt", ".pkl")]
        if pickles:
            raise InputError(
                f"{folder / pickles[0]}: is a pickle, which can run code when loaded, so it is not read; convert it once, where you "
                f"trust it: `python -m niwaki.convert_pickle --i-trust-this-file {pickles[0]} {WEIGHTS}`"
            )
        if (folder / f"{WEIGHTS}.index.json").is_file():
            raise InputError(
                f"{folder}: its weights are split into several files; join them into one {WEIGHTS} with transformers: "
                "load the model and call save_pretrained(folder, max_shard_size='100GB')"
            )
        raise InputError(f"{folder}: has no {WEIGHTS}")


def load_weights(network: Network, path: Path) -> None:
    """Fills the network from a safetensors file; every tensor must be there, in its shape, and no other."""
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        state = load_file(path)
    except (SafetensorError, OSError) as error:
        raise InputError(f"{path}: cannot be read, it is damaged or cut short ({error})") from None
    check_tensors(network, path, state)
    copies = {name: value.clone() for name, value in state.items()}  # a loaded tensor is a view of the file on disk
    network.load_state_dict(with_tied_names(network, copies), strict=True, assign=True)
    check_sparse_stores(network, str(path))


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


def _load_stock(folder: Path, config: dict[str, Any], found: Header, asked: Head | None) -> Network:
    """Through transformers, which maps the names of a bare encoder to those of one with a head. It is given the tensors
    and not the folder, in which it would look for further files to follow."""
    from safetensors.torch import load_file

    order = label_order(config, asked.labels) if asked else []
    before = config.get("niwaki_answer")
    if asked:
        config = asked.on(config)
    network, missing = stock_network(
        folder, config, found, lambda: load_file(folder / WEIGHTS), new_head=asked is not None
    )
    family_of(str(config["model_type"])).adapt_network(network)
    network.config.architectures = [type(network).__name__]
    for parameter in network.parameters():  # a loaded tensor is a view of the file on disk, which may be written to
        parameter.data = parameter.data.clone()
    final = anatomy_of(network).head.final
    if order and final:  # a head that was trained says its labels in its own order
        for parameter in network.get_submodule(final).parameters():
            parameter.data = parameter.data[order]
    if asked:
        trained = not any(_of_head(name, anatomy_of(network).family.body) for name in _lacking(missing))
        rescale(network, before if before or not trained else PLAIN_UNITS, asked.answer)
    return network.eval()


def stock_network(
    folder: Path,
    config: dict[str, Any],
    found: Header,
    tensors: Callable[[], dict[str, torch.Tensor]],
    new_head: bool,
    **placement: Any,
) -> tuple[Network, dict[str, Any]]:
    """A stock network with these tensors, and what transformers says of those that are missing; Refused where they do not fit."""
    import transformers

    kind = _kind_that_fits(config, found, folder)
    try:
        with without_progress_bars():
            network, missing = kind.from_pretrained(
                None,
                config=transformers.AutoConfig.for_model(**config),
                state_dict=tensors(),
                attn_implementation=attention(),
                dtype="float32",
                ignore_mismatched_sizes=new_head,
                output_loading_info=True,
                **placement,
            )
    except Exception as error:  # noqa: BLE001 - damaged files break transformers in many places
        raise InputError(
            f"{folder / WEIGHTS}: cannot be read, it is damaged, cut short or of another shape ({first_line(error)})"
        ) from None
    _refuse_holes(network, missing, folder, may_lack_head=new_head)
    return network, missing


def _kind_that_fits(config: dict[str, Any], found: Header, folder: Path) -> Any:
    """The network's class, asked of a skeleton that takes no memory. It must not need more numbers than the file has,
    but for a new head, which is small."""
    with torch.device("meta"):
        skeleton = build(config)
    numbers = sum(value.numel() for value in unique_tensors(skeleton).values())
    if numbers > found.numel + HEAD_NUMBERS:
        raise InputError(
            f"{folder / CONFIG}: describes {numbers} numbers, more than {WEIGHTS} holds; it is not its config"
        )
    return type(skeleton)


def _lacking(found: dict[str, Any]) -> list[str]:
    """Tensors that transformers filled with random numbers."""
    return sorted([*found["missing_keys"], *(entry[0] for entry in found["mismatched_keys"])])


def _refuse_holes(network: Network, found: dict[str, Any], folder: Path, may_lack_head: bool) -> None:
    """transformers fills what the file lacks with random numbers; only a head that is asked for anew may be so filled."""
    body = anatomy_of(network).family.body
    for name in _lacking(found):
        if not (may_lack_head and _of_head(name, body)):
            raise InputError(f"{folder / WEIGHTS}: tensor '{name}' is missing or of another shape than {CONFIG} says")
