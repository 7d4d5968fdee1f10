"""All logits of a feed from a network in torch: for validation while training, and for teachers."""

import numpy as np
import torch

from niwaki.data.batching import sorted_batches
from niwaki.models.forward import forward
from niwaki.models.model import Model
from niwaki.train.feed import Feed
from niwaki.train.precision import autocast

ROWS, TOKENS = 128, 8192  # a batch without gradients may be larger than one with


@torch.no_grad()
def logits_of(model: Model, feed: Feed, precision: str) -> np.ndarray:
    """(rows, …) in the order of the feed, float32."""
    was_training = model.network.training
    model.network.eval()
    anatomy = model.anatomy
    parts, places = [], []
    for rows in sorted_batches(feed.lengths, ROWS, TOKENS):
        with autocast(precision, feed.device):
            parts.append(forward(model.network, anatomy, feed.batch(rows)).logits.float().cpu().numpy())
        places.append(rows)
    model.network.train(was_training)
    stacked = np.concatenate(parts)
    result = np.empty_like(stacked)
    result[np.concatenate(places)] = stacked
    return result
