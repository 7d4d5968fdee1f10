"""One layer, or one of a decoder's attentions with what lies behind it: its parts by role, and what it does with hidden states."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from niwaki.models.forms.silent import Silent

MATRICES = ("query", "key", "value", "out", "ffn_in", "ffn_out")
PARTS = (*MATRICES, "attention_norm", "ffn_norm")
OUT_OF_REACH = -1e4  # lower than any score

Drop = Callable[[Tensor], Tensor]  # what is left of activations while training


def kept(x: Tensor) -> Tensor:
    """All of it."""
    return x


class Layer:
    """Reading a part follows the family's path; `replace` puts another in."""

    def __init__(self, module: nn.Module, paths: Any) -> None:
        self.module = module
        self.paths = paths  # what has them as attributes: the anatomy, or what it says of a decoder

    def path(self, part: str) -> str:
        return getattr(self.paths, part)

    @property
    def parts(self) -> list[str]:
        """Those that there are: an attention may have no feed-forward block behind it."""
        return [part for part in PARTS if self.path(part)]

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
        return int(getattr(self.attention, getattr(self.paths, "head_width_key", "attention_head_size")))

    @property
    def scale(self) -> float:
        """What the products of queries and keys are multiplied by."""
        return self.head_width**-0.5 if getattr(self.paths, "scales", True) else 1.0

    @property
    def norms_first(self) -> bool:
        """Whether a block reads what its norm gives, and not the norm what the block gives."""
        return getattr(self.paths, "norms_first", False)

    def before(self, norm: str, rows: Tensor) -> Tensor:
        """Hidden states as a block reads them."""
        return self.part(norm)(rows) if self.norms_first else rows

    def behind(self, norm: str, rows: Tensor) -> Tensor:
        """Hidden states as a block leaves them."""
        return rows if self.norms_first else self.part(norm)(rows)

    @property
    def heads(self) -> int:
        return self.linear("query").out_features // self.head_width

    @property
    def neurons(self) -> int:
        return self.linear("ffn_in").out_features


def ignored(mask: Tensor, hidden: Tensor) -> Tensor:
    """(batch, tokens) to (batch, 1, 1, tokens), added to scores: 0 where a token is real, and padding is not read."""
    return (1.0 - mask[:, None, None, :].to(hidden.dtype)) * OUT_OF_REACH


def reads(layer: Layer) -> bool:
    """Whether its attention is there."""
    return not isinstance(layer.part("out"), Silent)


def run_layer(layer: Layer, hidden: Tensor, scores: Tensor, rows: slice, drop: Drop = kept) -> Tensor:
    """One encoder layer; `rows` says which tokens' outputs are wanted. A block that is gone is not run."""
    wanted, seen = hidden[:, rows], layer.before("attention_norm", hidden)
    asking = seen[:, rows] if layer.norms_first else wanted
    return around(layer, wanted, lambda: read_by(layer, asking, *keys_and_values(layer, seen), scores, drop), drop)


def around(layer: Layer, wanted: Tensor, mixed: Callable[[], Tensor], drop: Drop = kept) -> Tensor:
    """The layer around what its heads read: works on rows (…, width), each by itself."""
    return fed(layer, attended(layer, wanted, mixed, drop), drop)


def attended(layer: Layer, wanted: Tensor, mixed: Callable[[], Tensor], drop: Drop = kept) -> Tensor:
    """Rows (…, width) with what the heads read added to them."""
    read = mixed() if reads(layer) else wanted
    return layer.behind("attention_norm", drop(layer.part("out")(read)) + wanted)


def fed(layer: Layer, rows: Tensor, drop: Drop = kept) -> Tensor:
    """Rows (…, width) through the feed-forward block."""
    last = layer.part("ffn_out")
    if isinstance(last, Silent):
        return layer.behind("ffn_norm", drop(last(rows)) + rows)
    inner = layer.part("activation")(layer.part("ffn_in")(layer.before("ffn_norm", rows)))
    return layer.behind("ffn_norm", drop(last(inner)) + rows)


def keys_and_values(layer: Layer, hidden: Tensor) -> tuple[Tensor, Tensor]:
    """What can be read of hidden states (batch, tokens, width): each (batch, heads, tokens, head width)."""
    return split_heads(layer.part("key")(hidden), layer.head_width), split_heads(layer.part("value")(hidden), layer.head_width)  # fmt: skip


def read_by(
    layer: Layer, wanted: Tensor, key: Tensor, value: Tensor, scores: Tensor | None, drop: Drop = kept
) -> Tensor:
    """What the heads read for the wanted rows: (batch, rows, heads × head width). `scores` are added to the heads' own."""
    query = split_heads(layer.part("query")(wanted), layer.head_width)
    own = query @ key.transpose(-1, -2) * layer.scale  # (batch, heads, rows, tokens)
    weights = drop(torch.softmax(own if scores is None else own + scores, dim=-1))
    return (weights @ value).transpose(1, 2).flatten(2)


def add_bias(scores: Tensor, bias: Tensor | None, layer: Layer, rows: slice) -> Tensor:
    """The family's bias at the heads that the layer still has, for the rows that are wanted."""
    if bias is None:
        return scores
    return scores + at_heads(bias, layer)[:, :, rows]


def at_heads(bias: Tensor, layer: Layer) -> Tensor:
    """(1 or batch, heads, rows, tokens) with the heads that the layer still has."""
    kept = getattr(layer.attention, "kept_heads", None)
    return bias if kept is None else bias[:, kept]


def split_heads(x: Tensor, head_width: int) -> Tensor:
    """(batch, tokens, heads × head width) to (batch, heads, tokens, head width)."""
    return x.unflatten(-1, (-1, head_width)).transpose(1, 2)
