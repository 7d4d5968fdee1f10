"""One batch through one network, with just the insides that were asked for."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from niwaki.models.anatomy import Anatomy, Network

HIDDEN, SCORES = "hidden", "scores"


@dataclass(frozen=True)
class Batch:
    """`inputs` are the network's arguments; `rows` the places of the examples in the data (several sequences may belong to one)."""

    inputs: dict[str, Tensor]
    targets: Tensor
    rows: Tensor

    @property
    def mask(self) -> Tensor:
        return self.inputs["attention_mask"]


@dataclass(frozen=True)
class Outputs:
    """What came out. `hidden[0]` is the embedding's output, `hidden[d]` that of the d-th layer run."""

    logits: Tensor  # (batch, labels), or (batch, tokens, labels) from heads per token
    hidden: tuple[Tensor, ...] = ()  # each (batch, tokens, width)
    scores: tuple[Tensor, ...] = ()  # attention before softmax, each (batch, heads, tokens, tokens)


def forward(network: Network, anatomy: Anatomy, batch: Batch, needs: frozenset[str] = frozenset()) -> Outputs:
    """`network` may be a wrapped form (for autocast, for several processes) of the one that `anatomy` sees."""
    with recording(anatomy, on=SCORES in needs) as scores:
        result: Any = network(**batch.inputs, output_hidden_states=HIDDEN in needs, return_dict=True)
    return Outputs(_logits(result), tuple(result.hidden_states or ()), tuple(scores))


def _logits(result: Any) -> Tensor:
    """transformers gives the two logits of a span apart."""
    return torch.stack([result.start_logits, result.end_logits], -1) if "start_logits" in result else result.logits


@contextlib.contextmanager
def recording(anatomy: Anatomy, on: bool = True) -> Iterator[list[Tensor]]:
    """Fills a list with the attention scores of each layer as it runs, whatever kernel computes the attention itself."""
    scores: list[Tensor] = []
    queries: list[Tensor] = []
    handles = []
    for layer in anatomy.layers if on else []:
        width = layer.head_width

        def keep_query(module: nn.Module, args: Any, output: Tensor) -> None:
            queries.append(output)

        def score(module: nn.Module, args: Any, output: Tensor, width: int = width) -> None:
            query, key = (x.unflatten(-1, (-1, width)).transpose(1, 2) for x in (queries.pop(), output))
            scores.append(query @ key.transpose(-1, -2) * width**-0.5)

        # every family computes the query before the key; tests hold that
        handles += [
            layer.part("query").register_forward_hook(keep_query),
            layer.part("key").register_forward_hook(score),
        ]
    try:
        yield scores
    finally:
        for handle in handles:
            handle.remove()
