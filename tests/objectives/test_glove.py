"""GloVe: co-occurrences and the loss by hand."""

import math

import numpy as np
import pytest
import torch

from niwaki.data.ragged import Ragged
from niwaki.objectives import glove
from niwaki.objectives.glove import cooccurrences, glove_loss

from .embedding import prepared


def as_dict(pairs):
    return {
        (int(a), int(b)): pytest.approx(float(c))
        for a, b, c in zip(pairs.first, pairs.second, pairs.counts, strict=True)
    }


@pytest.mark.parametrize("counted", [1, 4, 1 << 19])
def test_cooccurrences_by_hand(monkeypatch, counted):
    """Token 0 is special. 1 2 1: 1-2 twice at distance 1, 1-1 at distance 2 in both directions. 3 2: once. Sequences are apart."""
    monkeypatch.setattr(glove, "COUNTED_TOKENS", counted)
    ids = Ragged.of([[0, 1, 2, 1, 0], [0, 3, 2, 0]])
    special = np.array([True, False, False, False])
    assert as_dict(cooccurrences(ids, 2, special)) == {(1, 2): 2.0, (1, 1): 1.0, (2, 3): 1.0}
    assert as_dict(cooccurrences(ids, 1, special)) == {(1, 2): 2.0, (2, 3): 1.0}


def test_the_loss_by_hand():
    """Counts of 8 with at most 16 weigh (1/2)^0.5, those of 32 weigh 1."""
    found = glove_loss(torch.tensor([1.0, 2.0]), torch.tensor([8.0, 32.0]), most=16, power=0.5)
    wanted = (math.sqrt(0.5) * (1 - math.log(8)) ** 2 + (2 - math.log(32)) ** 2) / 2
    assert found.item() == pytest.approx(wanted, rel=1e-6)


def test_batches_hold_pairs_that_occur_in_both_orders():
    _, objective, features, batch = prepared({"use": "glove", "window": 3})
    known = as_dict(objective.pairs)
    assert len(objective.batches(features, 10, 0, 0)) == math.ceil(len(known) / 10)
    objective.size = 200
    found = objective.batch(batch, torch.Generator().manual_seed(0))
    drawn = list(zip(found.inputs["input_ids"][:, 0].tolist(), found.notes["around"].tolist(), strict=True))
    counts = [known[min(pair), max(pair)] for pair in drawn]
    assert found.notes["counts"].tolist() == counts
    assert any(one < other for one, other in drawn) and any(one > other for one, other in drawn)
