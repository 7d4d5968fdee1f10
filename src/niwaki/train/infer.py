"""Logits or hidden states of all rows, computed with torch: for validation, teachers and baselines."""

import contextlib
from collections.abc import Callable, Iterator

import numpy as np
import torch
from torch import Tensor, nn

from niwaki.data.batching import in_order, sorted_batches
from niwaki.models.forward import Batch, Outputs, forward
from niwaki.models.generation import generate, search_of
from niwaki.models.model import Model
from niwaki.models.record import HIDDEN
from niwaki.train.collator import Collator
from niwaki.train.precision import autocast

ROWS, TOKENS = 128, 8192  # larger than training batches, because no gradients are stored
Read = Callable[[Outputs, Tensor], Tensor]  # from the outputs of a batch and its mask


def logits_of(model: Model, collator: Collator, precision: str, chosen: np.ndarray | None = None) -> np.ndarray:
    """Logits as float32 in the order of the sequences, of all or of the chosen ones: (sequences, labels), or (tokens, labels) for
    heads per token. Seq2seq models generate greedily; the rows then hold the generated tokens (`answers/_beam_search.py`)."""
    if model.anatomy.is_seq2seq:
        return _generated(model, collator, precision)
    return _collect(model, collator, precision, lambda out, mask: out.logits, model.anatomy.per_token, chosen=chosen)


def _generated(model: Model, collator: Collator, precision: str) -> np.ndarray:
    how, lengths = search_of(model).greedy, collator.features.rows.lengths

    def parts() -> Iterator[tuple[np.ndarray, np.ndarray]]:
        for places in sorted_batches(lengths, ROWS, TOKENS):
            given = collator.inputs(places)
            with autocast(precision, collator.device):
                yield places, generate(model.anatomy, given, how)

    with evaluating(model):
        return in_order(parts(), lengths, per_token=False)


@contextlib.contextmanager
def evaluating(model: Model, helpers: nn.Module | None = None) -> Iterator[None]:
    modules = [model.network, *([] if helpers is None else [helpers])]
    was_training = [module.training for module in modules]
    for module in modules:
        module.eval()
    yield
    for module, before in zip(modules, was_training, strict=True):
        module.train(before)


def hidden_of(model: Model, collator: Collator, precision: str, per_token: bool) -> np.ndarray:
    """The last hidden states as float32: (tokens, hidden), or their mean over the tokens of each sequence, (sequences, hidden)."""
    read = _last if per_token else _mean
    return _collect(model, collator, precision, read, per_token, frozenset({HIDDEN}))


def _last(out: Outputs, mask: Tensor) -> Tensor:
    return out.hidden[-1]


def _mean(out: Outputs, mask: Tensor) -> Tensor:
    real = mask[..., None].float()  # (batch, tokens, 1)
    return (out.hidden[-1].float() * real).sum(dim=1) / real.sum(dim=1)


@torch.no_grad()
def _collect(
    model: Model,
    collator: Collator,
    precision: str,
    read: Read,
    per_token: bool,
    activations: frozenset[str] = frozenset(),
    chosen: np.ndarray | None = None,
) -> np.ndarray:
    chosen = np.arange(len(collator.features.rows.lengths)) if chosen is None else chosen
    lengths = collator.features.rows.lengths[chosen]
    with evaluating(model):
        return in_order(_parts(model, collator, precision, read, activations, chosen, lengths), lengths, per_token)


def _parts(
    model: Model,
    collator: Collator,
    precision: str,
    read: Read,
    activations: frozenset[str],
    chosen: np.ndarray,
    lengths: np.ndarray,
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    anatomy, nothing = model.anatomy, torch.zeros(0)
    for places in sorted_batches(lengths, ROWS, TOKENS):
        batch = Batch(collator.inputs(chosen[places]), nothing, nothing)
        with autocast(precision, collator.device):
            out = forward(anatomy, batch, activations)
        found = read(out, batch.mask).float()
        yield places, (found[batch.mask.bool()] if found.ndim == 3 else found).cpu().numpy()
