"""Patient distillation."""

import pytest
import torch

import tiny
from niwaki.core.errors import InputError
from niwaki.methods.distill.pkd import Pkd
from niwaki.models.forward import Outputs

from .outputs import context_with, teaching_with, two_tokens


def test_first_token_states_are_compared_at_length_one():
    """The first token alone: (3, 4) at length 1 is (.6, .8), (0, 7) is (0, 1): .36 + .04. The last layer does not count."""
    none = torch.zeros(1, 2)
    inner, last = torch.tensor([[[3.0, 4.0], [8.0, 1.0]]]), torch.tensor([[[99.0, 1.0], [1.0, 99.0]]])
    own = Outputs(none, (none, inner, last))
    theirs = Outputs(none, {2: torch.tensor([[[0.0, 7.0], [1.0, 1.0]]])})
    loss = Pkd(weight=10.0).loss(None, two_tokens(), own, torch.tensor(1.0), teaching_with(theirs, 4))
    assert loss.item() == pytest.approx(1 + 10 * 0.4)
    assert Pkd().teacher_activations(tiny.model(layers=2), tiny.model(layers=4)) == {"hidden.2"}
    assert Pkd(mapping="last").teacher_activations(tiny.model(layers=3), tiny.model(layers=6)) == {
        "hidden.4",
        "hidden.5",
    }
    with pytest.raises(InputError, match="the student has only one layer"):
        Pkd().prepare(tiny.model(layers=1), context_with(tiny.model(layers=4)))
