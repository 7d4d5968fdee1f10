"""One layer, or one of a decoder's attentions with what lies behind it: its parts by role, and what it does with hidden states."""

from collections.abc import Callable
from operator import attrgetter
from typing import Any

import torch
from torch import Tensor, nn

from niwaki.models.dropout import dropout
from niwaki.models.packed.removed import Removed

MATRICES = ("query", "key", "value", "out", "ffn_in", "ffn_out")
PARTS = (*MATRICES, "attention_norm", "ffn_norm")
MASKED_SCORE = -1e4  # lower than any score


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
    def head_size(self) -> int:
        return int(getattr(self.attention, getattr(self.paths, "head_size_key", "attention_head_size")))

    @property
    def scale(self) -> float:
        """What the products of queries and keys are multiplied by."""
        return self.head_size**-0.5 if getattr(self.paths, "scales_attention", True) else 1.0

    def drop(self, role: str, x: Tensor) -> Tensor:
        """Dropout of a role (`attention_dropout`, `out_dropout`, `inner_dropout`, `ffn_dropout`) while training. The
        family names where the rate is: a dropout module, or a number as in BART."""
        path = getattr(self.paths, role, "")
        if not path or not self.module.training:
            return x
        found = attrgetter(path)(self.module)
        rate = found.p if isinstance(found, nn.Dropout) else float(found)
        return dropout(x, rate)

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
        return self.linear("query").out_features // self.head_size

    @property
    def ffn_size(self) -> int:
        return self.linear("ffn_in").out_features


def padding_bias(mask: Tensor, hidden: Tensor) -> Tensor:
    """(batch, tokens) to (batch, 1, 1, tokens), added to scores: 0 where a token is real, and padding is not read."""
    return (1.0 - mask[:, None, None, :].to(hidden.dtype)) * MASKED_SCORE


def has_attention(layer: Layer) -> bool:
    """Whether its attention is there."""
    return not isinstance(layer.part("out"), Removed)


def run_attention(layer: Layer, wanted: Tensor, mixed: Callable[[], Tensor]) -> Tensor:
    """Rows (…, width) with what the heads read added to them. An attention that was removed is not run."""
    read = mixed() if has_attention(layer) else wanted
    return layer.behind("attention_norm", layer.drop("out_dropout", layer.part("out")(read)) + wanted)


def run_ffn(layer: Layer, rows: Tensor) -> Tensor:
    """Rows (…, width) through the feed-forward block."""
    last = layer.part("ffn_out")
    if isinstance(last, Removed):
        return layer.behind("ffn_norm", layer.drop("ffn_dropout", last(rows)) + rows)
    inner = layer.part("activation")(layer.part("ffn_in")(layer.before("ffn_norm", rows)))
    return layer.behind("ffn_norm", layer.drop("ffn_dropout", last(layer.drop("inner_dropout", inner))) + rows)


def keys_and_values(layer: Layer, hidden: Tensor) -> tuple[Tensor, Tensor]:
    """What can be read of hidden states (batch, tokens, width): each (batch, heads, tokens, head width)."""
    return split_heads(layer.part("key")(hidden), layer.head_size), split_heads(
        layer.part("value")(hidden), layer.head_size
    )


def multi_head_attention(layer: Layer, wanted: Tensor, key: Tensor, value: Tensor, bias: Tensor | None) -> Tensor:
    """What the heads read for the wanted rows: (batch, rows, heads × head width). `bias` is added to the scores."""
    return attend(layer, split_heads(layer.part("query")(wanted), layer.head_size), key, value, bias)[0]


def attend(layer: Layer, query: Tensor, key: Tensor, value: Tensor, bias: Tensor | None) -> tuple[Tensor, Tensor]:
    """Attention of queries (batch, heads, rows, head width) over keys and values (batch, heads, tokens, head width).

    Gives the mixed values (batch, rows, heads × head width) and the scaled scores (batch, heads, rows, tokens) before
    `bias` is added. Plain products: for short sequences the backward pass of torch's fused attention takes a third of
    a training step on a CPU (benchmarks/training.py)."""
    scores = query @ key.transpose(-1, -2) * layer.scale
    weights = torch.softmax(scores if bias is None else scores + bias, dim=-1)  # torch adds bf16 up in fp32
    return (layer.drop("attention_dropout", weights) @ value).transpose(1, 2).flatten(2), scores


def at_heads(bias: Tensor, layer: Layer) -> Tensor:
    """(1 or batch, heads, rows, tokens) with the heads that the layer still has."""
    kept = getattr(layer.attention, "kept_heads", None)
    return bias if kept is None else bias[:, kept]


def split_heads(x: Tensor, head_size: int) -> Tensor:
    """(batch, tokens, heads × head width) to (batch, heads, tokens, head width)."""
    return x.unflatten(-1, (-1, head_size)).transpose(1, 2)
