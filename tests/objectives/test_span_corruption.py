"""Span corruption: what is read and generated belong together, and settings are checked."""

import numpy as np
import pytest

from niwaki.core.errors import InputError
from niwaki.objectives._factory import make_objective, objective_settings
from niwaki.tasks.denoising import Denoising

from .noisy import noisy


@pytest.mark.parametrize("noise", ["spans", "tokens"])
@pytest.mark.parametrize("family", ["t5", "bart"])
def test_texts_can_be_put_together_from_both_sides(noise, family):
    _, objective, before, batch = noisy({"use": "span_corruption", "noise": noise, "rate": 0.3}, family)
    sentinels = set(objective.known.sentinels.tolist())
    for row, whole in enumerate(before.inputs["input_ids"]):
        spans: dict[int, list[int]] = {}
        for token in batch.targets[row][batch.predicted[row]].tolist()[len(objective.known.before) :]:
            if token in sentinels:
                last = spans.setdefault(token, [])
            else:
                last.append(token)
        read = batch.inputs["input_ids"][row][batch.mask[row].bool()].tolist()
        text = np.concatenate([spans[token] if token in sentinels else [token] for token in read])
        assert text.astype(int).tolist() == whole[before.mask[row].bool()].tolist()


def test_dropped_tokens_leave_no_sentinel():
    _, objective, before, batch = noisy({"use": "span_corruption", "noise": "drop"})
    sentinels = objective.known.sentinels
    assert not np.isin(batch.inputs["input_ids"], sentinels).any() and not np.isin(batch.targets, sentinels).any()
    ends = len(before.mask)  # the end token is on both sides
    assert batch.mask.sum() + batch.predicted.sum() == before.mask.sum() + ends


def test_settings_and_their_defaults():
    assert objective_settings("span_corruption") == [
        {"noise": "spans", "rate": 0.15, "mean_span": 3.0, "label_smoothing": 0.0}
    ]
    with pytest.raises(InputError, match=r"objective\.noise: .*'spans', 'tokens' or 'drop'"):
        make_objective({"use": "span_corruption", "noise": "infill"}, Denoising())
    with pytest.raises(InputError, match=r"objective\.rate"):
        make_objective({"use": "span_corruption", "rate": 1.0}, Denoising())
