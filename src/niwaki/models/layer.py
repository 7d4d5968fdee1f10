"""One attention layer: its parts by role, and what it does with hidden states."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from niwaki.models.forms.silent import Silent

PARTS = ("query", "key", "value", "out", "attention_norm", "ffn_in", "ffn_out", "ffn_norm")


class Layer:
    """One encoder layer. Reading a part follows the family's path; `replace` puts another in."""

    def __init__(self, module: nn.Module, paths: Any) -> None:
        self.module = module
        self.paths = paths  # the anatomy, whose attributes they are

    def path(self, part: str) -> str:
        return getattr(self.paths, part)

    def part(self, name: str) -> Any:
        return self.module.get_submodule(self.path(name))

    def linear(self, name: str) -> nn.Linear:
        """A part that is a matrix: `nn.Linear`, or a packed stand-in with the same `in_features` and `out_features`."""
        return self.part(name)

    def replace(self, part: str, new: nn.Module) -> None:
        self.module.set_submodule(self.path(part), new)

    @property
    def attention(self) -> Any:
        return self.part("attention_module")

    @property
    def head_width(self) -> int:
        return int(self.attention.attention_head_size)

    @property
    def heads(self) -> int:
        return self.linear("query").out_features // self.head_width

    @property
    def neurons(self) -> int:
        return self.linear("ffn_in").out_features


def run_layer(layer: Layer, hidden: Tensor, scores: Tensor, rows: slice) -> Tensor:
    """One post-norm encoder layer; `rows` says which tokens' outputs are wanted. A block that is gone is not run."""
    wanted = hidden[:, rows]
    return around(layer, wanted, lambda: _mixed(layer, wanted, hidden, scores))


def around(layer: Layer, wanted: Tensor, mixed: Callable[[], Tensor]) -> Tensor:
    """The layer around what its heads read: works on rows (…, width), each by itself."""
    last = layer.part("out")
    read = wanted if isinstance(last, Silent) else mixed()
    attended = layer.part("attention_norm")(last(read) + wanted)
    last = layer.part("ffn_out")
    inner = attended if isinstance(last, Silent) else layer.part("activation")(layer.part("ffn_in")(attended))
    return layer.part("ffn_norm")(last(inner) + attended)


def _mixed(layer: Layer, wanted: Tensor, hidden: Tensor, scores: Tensor) -> Tensor:
    """What the heads read: (batch, rows, heads × head width)."""
    query, key, value = (
        _split_heads(layer.part(part)(source), layer.head_width)
        for part, source in (("query", wanted), ("key", hidden), ("value", hidden))
    )  # each (batch, heads, tokens, head width)
    weights = torch.softmax(query @ key.transpose(-1, -2) * layer.head_width**-0.5 + scores, dim=-1)
    return (weights @ value).transpose(1, 2).flatten(2)


def add_bias(scores: Tensor, bias: Tensor | None, layer: Layer, rows: slice) -> Tensor:
    """The family's bias at the heads that the layer still has, for the rows that are wanted."""
    if bias is None:
        return scores
    kept = getattr(layer.attention, "kept_heads", None)
    return scores + (bias if kept is None else bias[:, kept])[:, :, rows]


def _split_heads(x: Tensor, head_width: int) -> Tensor:
    return x.unflatten(-1, (-1, head_width)).transpose(1, 2)
