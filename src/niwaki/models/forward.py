"""One batch through one network, with just the insides that were asked for."""

import contextlib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from niwaki.models.anatomy import Anatomy, Network
from niwaki.models.layer import split_heads

HIDDEN, SCORES, STATES = "hidden", "scores", "states"
PARTS = {"query": "queries", "key": "keys", "value": "values"}
Depths = Sequence[Tensor] | Mapping[int, Tensor]  # by depth: all of a student's, those asked for of a teacher's


@dataclass(frozen=True)
class Batch:
    """`inputs` are the network's arguments; `rows` the places of the examples in the data (several sequences may belong to one)."""

    inputs: dict[str, Tensor]
    targets: Tensor
    rows: Tensor

    @property
    def mask(self) -> Tensor:
        return self.inputs["attention_mask"]

    @property
    def written(self) -> Tensor:
        """Of what a network learns to write, (batch, tokens): 1 where there is a token."""
        return (self.targets >= 0).to(self.mask.dtype)


@dataclass(frozen=True)
class Outputs:
    """What came out. `hidden[0]` is the embedding's output, `hidden[d]` that of the d-th layer run; the rest counts layers from 0."""

    logits: Tensor  # (batch, labels), or (batch, tokens, labels) from heads per token
    hidden: Depths = ()  # each (batch, tokens, width)
    scores: Depths = ()  # attention before softmax, each (batch, heads, tokens, tokens)
    queries: Depths = ()  # each (batch, tokens, heads × head width), as keys and values
    keys: Depths = ()
    values: Depths = ()
    written: Depths = ()  # of a decoder, counted as `hidden`, each (batch, tokens of what is written, width)


def forward(network: Network, anatomy: Anatomy, batch: Batch, needs: frozenset[str] = frozenset()) -> Outputs:
    """`network` may be a wrapped form (for autocast, for several processes) of the one that `anatomy` sees."""
    with recording(anatomy, on=bool({SCORES, STATES} & needs)) as states:
        result: Any = network(**batch.inputs, output_hidden_states=HIDDEN in needs, return_dict=True)
    if anatomy.writes and not anatomy.decodes:  # behind what is read lies what is written
        states = {name: [one[:, : batch.mask.shape[1]] for one in some] for name, some in states.items()}
    scores = scores_of(anatomy, states) if SCORES in needs else ()
    hidden, written = (tuple(one or ()) for one in (_hidden(result), result.get("decoder_hidden_states")))
    return Outputs(_logits(result), hidden, scores, written=written, **states)


def real_inputs(anatomy: Anatomy, path: str, x: Tensor, batch: Batch) -> Tensor:
    """Of what the matrix at a path was given in a batch, the real tokens' (tokens, in); of what is no row of tokens, all."""
    real = anatomy.real_tokens(path, batch.mask, batch.written) if anatomy.writes else batch.mask
    return x[real.bool()] if x.ndim == 3 and x.shape[:2] == real.shape else x.flatten(0, -2)


def _logits(result: Any) -> Tensor:
    """transformers gives the two logits of a span apart."""
    return torch.stack([result.start_logits, result.end_logits], -1) if "start_logits" in result else result.logits


def _hidden(result: Any) -> Any:
    """Of a network that writes, what it read: there its layers are those of its encoder."""
    return result.encoder_hidden_states if "encoder_hidden_states" in result else result.get("hidden_states")


@contextlib.contextmanager
def recording(anatomy: Anatomy, on: bool = True) -> Iterator[dict[str, list[Tensor]]]:
    """Fills lists with the queries, keys and values of each layer as it runs, whatever kernel computes the attention."""
    states: dict[str, list[Tensor]] = defaultdict(list)
    handles = []
    for part, name in PARTS.items() if on else ():

        def keep(module: nn.Module, args: Any, output: Tensor, name: str = name) -> None:
            states[name].append(output)

        shared_once = {id(module): module for module in (layer.part(part) for layer in anatomy.layers)}
        handles += [module.register_forward_hook(keep) for module in shared_once.values()]
    try:
        yield states
    finally:
        for handle in handles:
            handle.remove()


def scores_of(anatomy: Anatomy, states: Mapping[str, Sequence[Tensor]]) -> tuple[Tensor, ...]:
    """Attention scores from queries and keys: scaled products, before mask, position bias and softmax."""
    layers = anatomy.layers
    shapes = [(layers[number].head_width, layers[number].scale) for number in anatomy.order]
    return tuple(
        split_heads(query, width) @ split_heads(key, width).transpose(-1, -2) * scale
        for query, key, (width, scale) in zip(states["queries"], states["keys"], shapes, strict=True)
    )
