"""All logits of a feed from a network in torch: for validation while training, and for teachers."""

from collections.abc import Iterator

import numpy as np
import torch

from niwaki.data.batching import in_order, sorted_batches
from niwaki.models.forward import Batch, forward
from niwaki.models.model import Model
from niwaki.train.feed import Feed
from niwaki.train.precision import autocast

ROWS, TOKENS = 128, 8192  # a batch without gradients may be larger than one with


@torch.no_grad()
def logits_of(model: Model, feed: Feed, precision: str) -> np.ndarray:
    """(sequences, labels) in the order of the feed, or (tokens of all sequences, labels) from heads per token; float32."""
    was_training = model.network.training
    model.network.eval()
    lengths = feed.features.rows.ids.lengths
    found = in_order(_parts(model, feed, precision, lengths), lengths, model.anatomy.per_token)
    model.network.train(was_training)
    return found


def _parts(model: Model, feed: Feed, precision: str, lengths: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    anatomy, nothing = model.anatomy, torch.zeros(0)
    for sequences in sorted_batches(lengths, ROWS, TOKENS):
        batch = Batch(feed.inputs(sequences), nothing, nothing)
        with autocast(precision, feed.device):
            yield sequences, forward(model.network, anatomy, batch).logits.float().cpu().numpy()
