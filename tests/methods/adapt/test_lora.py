"""LoRA as a method: which matrices, how many numbers, merged at the end."""

import pytest
import torch

import tiny
from calibrated import CONTEXT
from niwaki.core.errors import InputError
from niwaki.methods.adapt.lora import Lora
from niwaki.models.forward import forward
from niwaki.models.trunk import is_of_delta


@pytest.mark.parametrize("targets, numbers", [(["query", "value"], 32 + 32), (["ffn_in", "ffn_out"], 96 + 96)])
def test_the_trained_numbers_are_rank_times_both_sides(targets, numbers):
    """Three layers with matrices of 32 × 32 and 32 × 64."""
    model = Lora(rank=3, targets=targets).prepare(tiny.model("bert"), CONTEXT)
    found = sum(one.numel() for name, one in model.network.named_parameters() if is_of_delta(name))
    assert found == 3 * 3 * (numbers if targets[0] == "ffn_in" else 2 * numbers)


def test_the_finished_model_is_a_plain_one_with_the_same_outputs():
    model = Lora().prepare(tiny.model("bert"), CONTEXT)
    for name, one in model.network.named_parameters():
        if name.endswith("delta.up.weight"):
            torch.nn.init.normal_(one, generator=torch.Generator().manual_seed(0))
    batch = tiny.batch(model)
    before = forward(model.anatomy, batch).logits
    model = Lora().finish(model)
    torch.testing.assert_close(forward(model.anatomy, batch).logits, before, atol=1e-5, rtol=1e-4)
    assert (
        not model.blueprint.edits
        and model.network.state_dict().keys() == tiny.model("bert").network.state_dict().keys()
    )


def test_settings_that_do_not_fit_are_rejected():
    with pytest.raises(InputError, match="rank is 64"):
        Lora(rank=64).dry_prepare(tiny.model("bert"))
    with pytest.raises(InputError, match="no matrix 'queries'"):
        Lora(targets=["queries"]).dry_prepare(tiny.model("bert"))
