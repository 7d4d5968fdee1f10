"""Rotary positions (Su et al. 2021): queries and keys are rotated by angles that grow with their positions, so that their products
depend on the distance alone.

Configs state the angles as `rope_parameters`: one table, or one for each type of layer.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import torch
from torch import Tensor, nn

from niwaki.core.errors import InputError
from niwaki.core.json_types import Json
from niwaki.models.family import Family, Network

SCALINGS = ("default", "linear", "llama3")  # how the angles of longer texts than those of pretraining are made
ROTATION = "rotation"  # attribute of an attention
DEFAULT_THETA = 10_000.0
LAYER_TYPES = ("full_attention", "sliding_attention")


@dataclass(frozen=True)
class Rotation:
    """What decides the angles of an attention. `scaling` are pairs of a setting and its value."""

    size: int  # numbers of a head
    theta: float
    kind: str = "halves"  # number k turns with k + size / 2; "neighbours": number 2k with 2k + 1
    scaling: tuple[tuple[str, float], ...] = ()

    def turn(self, rows: Tensor, cosines: Tensor, sines: Tensor) -> Tensor:
        """Rows (…, heads × size), with cosines and sines (rows, size / 2) of their angles."""
        heads = rows.unflatten(-1, (-1, self.size))
        cosines, sines = cosines[:, None], sines[:, None]  # (rows, 1, size / 2)
        if self.kind == "halves":
            first, second = heads.chunk(2, dim=-1)
        else:
            first, second = heads[..., 0::2], heads[..., 1::2]
        turned = first * cosines - second * sines, second * cosines + first * sines
        found = torch.cat(turned, dim=-1) if self.kind == "halves" else torch.stack(turned, dim=-1).flatten(-2)
        found = found.flatten(rows.ndim - 1)
        return found if found.dtype == rows.dtype else found.to(rows.dtype)

    def angles(self, positions: Tensor) -> tuple[Tensor, Tensor]:
        """Cosines and sines, each (rows, size / 2), of positions (rows,)."""
        speeds = torch.tensor(frequencies(self), device=positions.device)  # constants of exported graphs
        angles = positions.to(torch.float32)[:, None] * speeds
        return angles.cos(), angles.sin()


@cache
def frequencies(rotation: Rotation) -> tuple[float, ...]:
    """Angles per position, slower and slower; in fp32 as transformers computes them."""
    exponents = torch.arange(0, rotation.size, 2, dtype=torch.float, device="cpu") / rotation.size
    speeds, scaling = 1.0 / (rotation.theta**exponents), dict(rotation.scaling)
    if "low_freq_factor" in scaling:
        speeds = _llama3(speeds, scaling)
    elif scaling:
        speeds = speeds / scaling["factor"]
    return tuple(float(speed) for speed in speeds)


def _llama3(speeds: Tensor, scaling: Mapping[str, float]) -> Tensor:
    """Llama 3.1: slow angles are divided by the factor, fast ones stay, those between are mixed."""
    before, low, high = (
        scaling[key] for key in ("original_max_position_embeddings", "low_freq_factor", "high_freq_factor")
    )
    lengths = 2 * math.pi / speeds  # positions of a whole turn
    fast = (before / lengths - low) / (high - low)
    mixed = (1 - fast) * speeds / scaling["factor"] + fast * speeds
    slow = torch.where(lengths > before / low, speeds / scaling["factor"], speeds)
    between = (lengths >= before / high) & (lengths <= before / low)
    return torch.where(between, mixed, slow)


def check_rotary(config: Json) -> None:
    """Rejects configs whose angles are not supported."""
    for key in ("rope_parameters", "rope_scaling"):
        for settings in _tables(config.get(key)).values():
            kind = settings.get("rope_type", settings.get("type", "default"))
            if kind not in SCALINGS or settings.get("partial_rotary_factor") not in (None, 1, 1.0):
                unusual = kind if kind not in SCALINGS else "partial_rotary_factor"
                raise InputError(
                    f"config: {key} with '{unusual}' is not supported; take a model with one of: {', '.join(SCALINGS)}"
                )


def set_rotations(network: Network, family: type[Family]) -> None:
    """Notes at each attention how it rotates."""
    assert family.layer is not None
    for module in family.layers(network.get_submodule(family.body)):
        attention = module.get_submodule(family.layer.attention_module)
        kind = str(getattr(module, "attention_type", ""))
        size = int(getattr(attention, family.layer.head_size_key))
        setattr(attention, ROTATION, rotation_of(network.config, kind, size, family.layer.stack.rotary))


def rotation_of(config: object, layer_type: str, size: int, kind: str) -> Rotation:
    """That of a layer's attention, as the config of transformers states it."""
    tables = _tables(getattr(config, "rope_parameters", None))
    settings = tables.get(layer_type) or tables.get("") or {}
    named = ("factor", "low_freq_factor", "high_freq_factor", "original_max_position_embeddings")
    scaled = settings.get("rope_type", "default") != "default"
    scaling = tuple((name, float(settings[name])) for name in named if scaled and settings.get(name) is not None)
    return Rotation(size, float(settings.get("rope_theta", DEFAULT_THETA)), kind, scaling)


def _tables(value: object) -> dict[str, Json]:
    """The settings by type of layer; "" where there is one table for all."""
    if not isinstance(value, Mapping) or not value:
        return {}
    found = {kind: value[kind] for kind in LAYER_TYPES if isinstance(value.get(kind), Mapping)}
    return found or {"": dict(value)}


def rotated(attention: nn.Module) -> Rotation:
    found = getattr(attention, ROTATION)
    assert isinstance(found, Rotation)
    return found
