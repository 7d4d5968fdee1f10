"""Rearranges networks of transformers as their families describe them, and restores the names of their tensors."""

from collections.abc import Mapping

from torch import Tensor

from niwaki.models.family import Family, Network
from niwaki.models.grouped_heads import set_key_heads
from niwaki.models.hash_table import hash_names
from niwaki.models.joined_matrices import join_matrices, split_matrices
from niwaki.models.layer_lists import group_layers, listed_names
from niwaki.models.parameter_matrices import parameter_names, set_matrices
from niwaki.models.patches import patch_name, patch_tensors, set_patches
from niwaki.models.relative_positions import set_distances
from niwaki.models.rotary import set_rotations


def adapt_layers(network: Network, family: type[Family]) -> None:
    """Splits joined matrices, makes patches a matrix, and notes at each attention what it needs to know of positions and heads."""
    other = family.head.span_body
    if other and other in network._modules:
        network._modules[family.body] = network._modules.pop(other)
        network.base_model_prefix = family.body  # where transformers' forward pass looks it up
    if family.inputs.reads == "images":
        set_patches(network, family)
    if family.layer is None:
        return
    stack = family.layer.stack
    if stack.lists:
        group_layers(network, family)
    if stack.parameters:
        set_matrices(network, family)
    if stack.fused:
        split_matrices(network, family.layer)
    if stack.rotary:
        set_rotations(network, family)
    if stack.distances:
        set_distances(network, family)
    if family.keys.key_heads:
        set_key_heads(network, family)


def published(network: Network, family: type[Family], tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The tensors of a network without edits under the names and in the layout of its checkpoints."""
    found = hash_names(tensors)
    if family.layer is not None and family.layer.stack.fused:
        found = join_matrices(found, family.layer)
    if family.layer is not None and family.layer.stack.lists:
        found = listed_names(found, family)
    if family.layer is not None and family.layer.stack.parameters:
        found = parameter_names(network, found, family)
    if family.inputs.reads == "images":
        found = patch_tensors(network, found)
    found = {stored_name(name, family): value for name, value in found.items()}
    if not family.head.span_body or type(network).base_model_prefix != family.head.span_body:
        return found
    before = f"{family.body}."
    return {
        name.replace(before, f"{family.head.span_body}.", 1) if name.startswith(before) else name: value
        for name, value in found.items()
    }


def stored_name(name: str, family: type[Family]) -> str:
    """What checkpoints call a tensor that is stored as it is, or in another shape only."""
    name = patch_name(name) if family.inputs.reads == "images" else name
    for own, stored in family.layer.stack.renamed if family.layer is not None else ():
        name = name.replace(own, stored)
    return name
