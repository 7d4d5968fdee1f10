"""A new head on an edited model, e.g. to go on with another task (intermediate-task training). The edits of its trunk stay."""

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from niwaki.core.json_types import Json
from niwaki.models.anatomy import Network, anatomy_of
from niwaki.models.blueprint import Blueprint
from niwaki.models.edits.replace_part import ReplacePart
from niwaki.models.family import family_of
from niwaki.models.head import Head
from niwaki.models.head_labels import labels_in
from niwaki.models.ties import unique_tensors
from niwaki.models.trunk import is_of_head


def needs_new_head(config: Json, head: Head) -> bool:
    """Whether the head of a config is of another kind, or has another number of outputs. Networks of niwaki's own and those that generate text keep theirs."""
    family = family_of(str(config["model_type"]))
    if family.decoder is not None or not family.in_transformers or not config.get("architectures"):
        return False
    kind = str(config["architectures"][0]).rpartition("For")[2]
    return kind != head.architecture or len(labels_in(config)) != len(head.labels)


def with_new_head(blueprint: Blueprint, head: Head) -> Blueprint:
    """The same edits on a skeleton with another head, without those that replaced the head."""
    edits = [edit for edit in blueprint.edits if not (isinstance(edit, ReplacePart) and edit.slot == "head")]
    return Blueprint(head.on(blueprint.base), edits)


def with_random_head(network: Network, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The trunk's tensors of a file, and random ones for the head of the network."""
    body, std = anatomy_of(network).family.body, float(getattr(network.config, "initializer_range", 0.02))
    head = {name: value for name, value in unique_tensors(network).items() if is_of_head(name, body)}
    trunk = {name: value for name, value in tensors.items() if not is_of_head(name, body)}
    return {**trunk, **{name: _random(name, value, std) for name, value in head.items()}}


def _random(name: str, like: Tensor, std: float) -> Tensor:
    """As transformers initializes heads: matrices normally distributed, biases 0, gains of norms 1."""
    values = torch.empty(like.shape, dtype=like.dtype)
    if like.ndim > 1:
        return nn.init.normal_(values, std=std)
    return values.fill_(float(name.endswith("weight")))
