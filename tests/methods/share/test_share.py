"""Sharing layers: groups and means by hand, and the best of a group against trying all of them."""

import pytest
import torch

import tiny
from calibrated import CONTEXT
from niwaki.core.errors import InputError
from niwaki.methods.share.share import Share, average, groups_of
from niwaki.models.edits.ffn import Ffn
from niwaki.models.edits.int8 import Int8
from niwaki.models.edits.share import Share as ShareEdit


def test_groups_of_neighbours():
    assert groups_of(6, 3) == [[0, 1], [2, 3], [4, 5]]
    assert groups_of(5, 2) == [[0, 1, 2], [3, 4]]
    assert groups_of(3, 1) == [[0, 1, 2]]


def test_average_of_two_matrices():
    matrices = [torch.nn.Linear(2, 1) for _ in range(2)]
    for matrix, numbers in zip(matrices, ([1.0, 2.0, 3.0], [3.0, 6.0, 5.0]), strict=True):
        matrix.weight.data, matrix.bias.data = torch.tensor([numbers[:2]]), torch.tensor(numbers[2:])
    average(matrices)
    assert matrices[0].weight.tolist() == [[2.0, 4.0]] and matrices[0].bias.tolist() == [4.0]
    assert matrices[1].weight.tolist() == [[3.0, 6.0]]


def loss_of(model, of, what="all"):
    tried = model.clone()
    tried.apply_edit(ShareEdit(of=of, what=what))
    with torch.no_grad():
        return sum(float(CONTEXT.loss(tried, batch)) for batch in CONTEXT.calibration(tried, 8))


@pytest.mark.parametrize("seed", range(4))
def test_the_best_of_each_group_is_taken(seed):
    model = tiny.model("bert", layers=4, seed=seed)
    first = min((0, 1), key=lambda one: loss_of(model, [one, one, 2, 3]))
    second = min((2, 3), key=lambda one: loss_of(model, [first, first, one, one]))
    shared = Share(groups=2).prepare(model, CONTEXT)
    assert shared.blueprint.edits[0].of == [first, first, second, second]


def test_not_always_the_first_is_the_best():
    found = {
        Share(groups=1).prepare(tiny.model("bert", seed=seed), CONTEXT).blueprint.edits[0].of[0] for seed in range(4)
    }
    assert len(found) > 1


@pytest.mark.parametrize("what", ["all", "attention", "ffn"])
@pytest.mark.parametrize("choose", ["best", "first", "mean"])
def test_what_is_shared_and_what_is_not(choose, what):
    model = Share(groups=2, what=what, choose=choose).prepare(tiny.model("bert", layers=4), CONTEXT)
    one, two, three, _ = model.anatomy.layers
    assert (one.part("query") is two.part("query")) == (what != "ffn")
    assert (one.part("ffn_out") is two.part("ffn_out")) == (what != "attention")
    assert one.part("query") is not three.part("query") and one.part("ffn_norm") is not two.part("ffn_norm")


def test_the_mean_is_what_is_used():
    model = tiny.model("bert", layers=4)
    wanted = torch.stack([layer.part("value").weight for layer in model.anatomy.layers[2:]]).mean(dim=0)
    model = Share(groups=2, choose="mean").prepare(model, CONTEXT)
    torch.testing.assert_close(model.anatomy.layers[3].part("value").weight, wanted)


@pytest.mark.parametrize("family", ["bert", "distilbert", "electra", "mpnet", "roberta"])
def test_layers_that_are_equal_lose_nothing(family):
    model = tiny.model(family, layers=4)
    layers = model.anatomy.layers
    for one, other in ((1, 0), (3, 2)):
        layers[one].module.load_state_dict(layers[other].module.state_dict())
    before = tiny.logits(model, tiny.batch(model))
    for choose in ("best", "first", "mean"):
        shared = Share(groups=2, choose=choose).prepare(model.clone(), CONTEXT)
        torch.testing.assert_close(tiny.logits(shared, tiny.batch(shared)), before, atol=1e-5, rtol=0)
        assert shared.parameters() < model.parameters()


def test_impossible_sharing_is_rejected_in_the_dry_run():
    with pytest.raises(InputError, match="share: the layers of this model are already shared; leave 'share' out"):
        Share().dry_prepare(tiny.model("albert"))
    with pytest.raises(InputError, match="share: 3 groups of 3 layers share nothing"):
        Share(groups=3).dry_prepare(tiny.model("bert"))
    with pytest.raises(InputError, match="share: a model of family 'cnn' has no attention layers"):
        Share().dry_prepare(tiny.model("cnn"))
    packed, uneven = tiny.model("bert"), tiny.model("bert")
    packed.apply_edit(Int8())
    with pytest.raises(InputError, match="share: packed or factored matrices have no mean; choose = 'best' or 'first'"):
        Share(choose="mean").dry_prepare(packed)
    assert Share(choose="best").prepare(packed, CONTEXT).anatomy.layers[0].part("out") is packed.anatomy.layers[1].part(
        "out"
    )
    uneven.apply_edit(Ffn(keep=[5, 6, 7]))
    with pytest.raises(InputError, match="differ in shape"):
        Share().dry_prepare(uneven)
