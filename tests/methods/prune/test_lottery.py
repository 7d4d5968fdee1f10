"""Lottery tickets."""

import pytest
import torch

import tiny
from niwaki.core.errors import InputError
from niwaki.methods._method import Context
from niwaki.methods.prune._masks import keep_largest
from niwaki.methods.prune.lottery import Lottery, random_mask
from niwaki.models.edits.heads import Heads

from .sparsity import CONTEXT, sparsity, weights


def test_a_random_mask_has_the_same_number_of_weights():
    places = torch.rand(20, 30, generator=torch.Generator().manual_seed(0)) < 0.6
    found = random_mask(places, 150, seed=1)
    assert found.sum() == 150 and (found <= places).all()
    assert torch.equal(found, random_mask(places, 150, seed=1)) and not torch.equal(
        found, random_mask(places, 150, seed=2)
    )
    assert random_mask(places, 600, seed=1).sum() == places.sum()


@pytest.mark.parametrize("random", [False, True])
def test_a_ticket_has_the_largest_weights_at_their_earlier_values(random):
    before, trained = tiny.model("bert", seed=1), tiny.model("bert", seed=2)
    sizes, old = [weight.abs().clone() for weight in weights(trained)], [weight.clone() for weight in weights(before)]
    context = Context(0, None, None, None, None, None, None, {"early": before}.__getitem__)
    method = Lottery(sparsity=0.75, rewind="early", random=random)
    assert method.stages == ("early",) and Lottery(rewind="none").stages == ()
    ticket = method.finish(method.prepare(trained, context))
    wanted = keep_largest(sizes, 0.75, "global")
    found = weights(ticket)
    assert [int((weight != 0).sum()) for weight in found] == [int(mask.sum()) for mask in wanted]
    assert all(torch.equal(weight == 0, ~mask) for weight, mask in zip(found, wanted, strict=True)) != random
    assert all(torch.equal(new[new != 0], was[new != 0]) for new, was in zip(found, old, strict=True))
    assert torch.equal(ticket.network.classifier.weight, before.network.classifier.weight)


def test_a_second_round_prunes_the_first_further():
    first = Lottery(sparsity=0.5, rewind="none")
    model = first.finish(first.prepare(tiny.model("bert"), CONTEXT))
    there = [weight != 0 for weight in weights(model)]
    for share in (0.3, 0.8):
        second = Lottery(sparsity=share, rewind="none", random=share == 0.8)
        again = second.finish(second.prepare(model.clone(), CONTEXT))
        assert sparsity(again) == pytest.approx(max(share, 0.5), abs=0.001)
        assert all(((weight != 0) <= mask).all() for weight, mask in zip(weights(again), there, strict=True))


def test_rewinding_to_another_shape_is_rejected():
    other = tiny.model("bert")
    other.apply_edit(Heads(keep=[[0, 1]] * 3))
    context = Context(0, None, None, None, None, None, None, lambda stage: other)
    with pytest.raises(
        InputError, match=r"lottery: the weights of stage 'early' do not fit \('.*query.weight' has another shape\)"
    ):
        Lottery(rewind="early").prepare(tiny.model("bert"), context)
