"""The cosine loss."""

import pytest
import torch

from niwaki.methods.distill.cosine import Cosine
from niwaki.models.forward import Outputs

from .outputs import teaching_with, two_tokens


def test_the_loss_is_one_minus_the_cosine():
    """(1, 0) and (1, 0) point alike: 0; (1, 0) and (0, 2) at a right angle: 1; (3, 4) and (4, 3): 1 − 24/25."""
    none = torch.zeros(1, 2)
    own = Outputs(none, (torch.zeros(1, 2, 2), torch.tensor([[[1.0, 0.0], [1.0, 0.0]]])))
    theirs = Outputs(none, {1: torch.tensor([[[5.0, 0.0], [0.0, 2.0]]])})
    method = Cosine(weight=3.0)
    assert method.loss(None, two_tokens(), own, torch.tensor(2.0), teaching_with(theirs, 1)).item() == pytest.approx(
        2 + 3 * 0.5
    )
    assert method.loss(
        None, two_tokens((1, 0)), own, torch.tensor(2.0), teaching_with(theirs, 1)
    ).item() == pytest.approx(2)
    own = Outputs(none, (none, torch.tensor([[[3.0, 4.0], [0.0, 0.0]]])))
    theirs = Outputs(none, {1: torch.tensor([[[4.0, 3.0], [9.0, 9.0]]])})
    assert Cosine().loss(
        None, two_tokens((1, 0)), own, torch.tensor(0.0), teaching_with(theirs, 1)
    ).item() == pytest.approx(1 / 25)
