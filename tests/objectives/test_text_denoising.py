"""Text denoising: the whole text is generated, whatever is read."""

import pytest
import torch

from niwaki.core.errors import InputError
from niwaki.objectives._factory import make_objective, objective_settings
from niwaki.tasks.denoising import Denoising

from .noisy import noisy


@pytest.mark.parametrize("noise", ["mask", "bert", "delete", "infill", "permute", "rotate", "shuffle", "combined"])
def test_the_whole_text_is_generated(noise):
    _, objective, before, batch = noisy({"use": "text_denoising", "noise": noise}, "bart")
    ids, real = before.inputs["input_ids"], before.mask.bool()
    assert torch.equal(batch.targets[real], ids[real]) and torch.equal(batch.predicted, real)
    read = batch.inputs["input_ids"]
    assert any(
        row[mask.bool()].tolist() != ids[n][real[n]].tolist()
        for n, (row, mask) in enumerate(zip(read, batch.mask, strict=True))
    )
    masks = int((read == objective.known.mask_id).sum())
    assert (masks > 0) == (noise in ("mask", "bert", "infill", "combined"))


def test_combined_noise_is_the_default():
    assert objective_settings("text_denoising") == [
        {"noise": "combined", "rate": 0.3, "mean_span": 3.0, "label_smoothing": 0.0}
    ]
    with pytest.raises(InputError, match=r"objective\.noise"):
        make_objective({"use": "text_denoising", "noise": "spans"}, Denoising())
