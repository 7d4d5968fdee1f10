"""Loads a stock checkpoint through transformers: an encoder with or without a head, from safetensors."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from niwaki.core.errors import InputError, first_line
from niwaki.core.json_types import Json
from niwaki.core.shards import shard_files
from niwaki.core.tensor_file import Header
from niwaki.models.anatomy import Network, anatomy_of
from niwaki.models.config_rules import CONFIG
from niwaki.models.family import Config, family_of
from niwaki.models.head import PLAIN_UNITS, Head, rescale
from niwaki.models.head_labels import label_order
from niwaki.models.meta_device import without_meta_initialization
from niwaki.models.networks.bare_encoder import BareEncoder, architecture_name
from niwaki.models.progress import without_progress_bars
from niwaki.models.sentence_modules import dense_weights
from niwaki.models.skeleton import attention, shape_of
from niwaki.models.ties import unique_tensors
from niwaki.models.trunk import is_of_head

WEIGHTS = "model.safetensors"
HEAD_NUMBERS = 20_000_000  # more than any head's


def load_stock(folder: Path, config: Config, found: Header, head: Head | None) -> Network:
    """Through transformers, which maps the names of a bare encoder to those of one with a head. It is given the tensors
    and not the folder, in which it would look for further files to follow."""
    order = label_order(config, head.labels) if head else []
    before = config.get("niwaki_answer")
    if head:
        config = head.on(config)
    network, missing = stock_network(folder, config, found, lambda: read_tensors(folder), new_head=head is not None)
    family_of(str(config["model_type"])).adapt_network(network)
    network.config.architectures = [architecture_name(network)]
    if isinstance(network, BareEncoder) and "dense.weight" in _lacking(missing):
        load_dense(network, dense_weights(folder))
    for parameter in network.parameters():  # a loaded tensor is a view of the file on disk, which may be written to
        parameter.data = parameter.data.clone()
    final = anatomy_of(network).head.final
    if order and final:  # a head that was trained says its labels in its own order
        for parameter in network.get_submodule(final).parameters():
            parameter.data = parameter.data[order]
    if head:
        trained = not any(is_of_head(name, anatomy_of(network).family.body) for name in _lacking(missing))
        rescale(network, before if before or not trained else PLAIN_UNITS, head.answer)
    return network.eval()


def read_tensors(folder: Path) -> dict[str, torch.Tensor]:
    """The tensors of a folder, from one file or several."""
    from safetensors.torch import load_file

    return {name: value for path in shard_files(folder) for name, value in load_file(path).items()}


def load_dense(network: BareEncoder, path: Path) -> None:
    """Fills the dense layer from a file of sentence-transformers."""
    from safetensors.torch import load_file

    assert network.dense is not None
    try:
        state = {name.removeprefix("linear."): value.clone() for name, value in load_file(path).items()}
        network.dense.load_state_dict(state)
    except Exception as error:  # noqa: BLE001 - damaged, cut short, or of another shape
        raise InputError(f"{path}: does not fit the config next to it ({first_line(error)})") from None


def stock_network(
    folder: Path,
    config: Config,
    found: Header,
    tensors: Callable[[], dict[str, torch.Tensor]],
    new_head: bool,
    **placement: object,
) -> tuple[Network, Json]:
    """A stock network with these tensors, and what transformers says of those that are missing; an error where they do not fit."""
    import transformers

    kind = _kind_that_fits(config, found, folder)
    try:
        with without_progress_bars(), without_meta_initialization():
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
    _check_complete(network, missing, folder, may_lack_head=new_head)
    return network, missing


def _kind_that_fits(config: Config, found: Header, folder: Path) -> Any:
    """The network's class, from a skeleton that takes no memory. It must not need more numbers than the file has,
    but for a new head, which is small."""
    skeleton = shape_of(config)
    numbers = sum(value.numel() for value in unique_tensors(skeleton).values())
    if numbers > found.numel + HEAD_NUMBERS:
        raise InputError(
            f"{folder / CONFIG}: describes {numbers} numbers, more than {WEIGHTS} holds; it is not its config"
        )
    return type(skeleton)


def _lacking(found: Json) -> list[str]:
    """Tensors that transformers filled with random numbers."""
    return sorted([*found["missing_keys"], *(entry[0] for entry in found["mismatched_keys"])])


def _check_complete(network: Network, found: Json, folder: Path, may_lack_head: bool) -> None:
    """transformers fills what the file lacks with random numbers; only a requested new head may be random."""
    body = anatomy_of(network).family.body
    for name in _lacking(found):
        if not (may_lack_head and is_of_head(name, body)):
            raise InputError(f"{folder / WEIGHTS}: tensor '{name}' is missing or of another shape than {CONFIG} says")
