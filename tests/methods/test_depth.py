"""Whole layers and hidden columns taken out: the ones that nobody misses go first."""

import pytest
import torch

import tiny
from niwaki.core.errors import InputError
from niwaki.methods._layer_choice import evenly_spaced, loss_after_edit
from niwaki.methods._method import Context
from niwaki.methods.prune.blocks import Blocks
from niwaki.methods.prune.hidden_size import HiddenSize
from niwaki.methods.prune.layers import Layers
from niwaki.models.edits.blocks import gone
from niwaki.models.edits.layers import Layers as LayersEdit
from niwaki.models.edits.share import Share

LOSS = torch.nn.functional.cross_entropy
CONTEXT = Context(
    0,
    None,
    None,
    lambda model, count: [tiny.batch(model, seed=seed) for seed in range(min(count, 2))],
    lambda model, batch: LOSS(model.network(**batch.inputs).logits, batch.targets),
    None,
    list,
)


def silence(layer):
    """A layer that gives back what it got, but for a norm of it."""
    with torch.no_grad():
        for part in ("out", "ffn_out"):
            layer.part(part).weight.zero_()
            layer.part(part).bias.zero_()


@pytest.mark.parametrize("family", ["bert", "distilbert", "mpnet"])
def test_layers_that_do_nothing_go_first(family):
    model = tiny.model(family, layers=4)
    for norm in (module for module in model.network.modules() if isinstance(module, torch.nn.LayerNorm)):
        norm.weight.data.fill_(1.0)
        norm.bias.data.zero_()  # a norm of what is normed changes nothing
    for number in (1, 2):
        silence(model.anatomy.layers[number])
    before = tiny.logits(model, tiny.batch(model))
    missed = Context(
        0,
        None,
        None,
        lambda model, count: [tiny.batch(model)],
        lambda model, batch: (model.network(**batch.inputs).logits - before).square().mean(),
        None,
        list,
    )
    model = Layers(count=2).prepare(model, missed)
    assert len(model.anatomy.layers) == 2
    torch.testing.assert_close(tiny.logits(model, tiny.batch(model)), before, atol=1e-4, rtol=0)


def test_worth_is_asked_anew_after_every_layer():
    model = tiny.model("bert", layers=3)
    batches = CONTEXT.calibration(model, 2)
    pairs = {
        pair: loss_after_edit(model, LayersEdit(keep=list(pair)), batches, CONTEXT) for pair in ((0, 1), (0, 2), (1, 2))
    }
    two = list(min(pairs, key=pairs.get))
    one = min(two, key=lambda number: loss_after_edit(model, LayersEdit(keep=[number]), batches, CONTEXT))
    for count, kept in ((2, two), (1, [one])):
        made = Layers(count=count).prepare(model.clone(), CONTEXT)
        norms = [layer.part("ffn_norm").weight for layer in made.anatomy.layers]
        assert all(
            torch.equal(norm, model.anatomy.layers[number].part("ffn_norm").weight)
            for norm, number in zip(norms, kept, strict=True)
        )


def test_spread_shares_and_counts():
    assert evenly_spaced(6, 3) == [1, 3, 5] and evenly_spaced(6, 1) == [5]
    kept = tiny.model("bert", layers=4)
    norms = [layer.part("ffn_norm").weight.clone() for layer in kept.anatomy.layers]
    kept = Layers(keep=0.5, choose="spread").prepare(kept, CONTEXT)
    assert [
        torch.equal(layer.part("ffn_norm").weight, norms[number])
        for layer, number in zip(kept.anatomy.layers, (1, 3), strict=True)
    ] == [True, True]
    assert len(Layers(keep=0.01).dry_prepare(tiny.model("bert")).anatomy.layers) == 1


def test_a_layer_that_is_run_several_times_is_run_less_often():
    model = Layers(count=2).prepare(tiny.model("albert", layers=4), CONTEXT)
    assert model.anatomy.order == [0, 0]


def test_layers_that_share_matrices():
    model = tiny.model("bert", layers=4)
    model.apply_edit(Share(of=[0, 0, 2, 2]))
    assert len(Layers(count=3).prepare(model, CONTEXT).anatomy.layers) == 3


@pytest.mark.parametrize("family", tiny.FAMILIES)
def test_columns_that_nobody_reads_go_first(family):
    """Their norms give 0 in them: only the norms' own sums still see them."""
    model = tiny.model(family)
    with torch.no_grad():
        for layer in model.anatomy.layers:
            for part in ("attention_norm", "ffn_norm"):
                layer.part(part).weight[24:] = 0
                layer.part(part).bias[24:] = 0
    made = HiddenSize(keep=0.75).prepare(model.clone(), CONTEXT)
    assert made.anatomy.hidden_size == 24
    found = made.anatomy.layers[0].part("ffn_norm").weight
    torch.testing.assert_close(found, model.anatomy.layers[0].part("ffn_norm").weight[:24])
    assert torch.isfinite(tiny.logits(made, tiny.batch(made))).all()


@pytest.mark.parametrize("family", tiny.FAMILIES)
def test_rehearsed_and_done_are_of_one_shape(family):
    for method in (Layers(count=2), HiddenSize(keep=0.5)):
        rehearsed, done = method.dry_prepare(tiny.model(family)), method.prepare(tiny.model(family), CONTEXT)
        shapes = [{name: value.shape for name, value in one.network.state_dict().items()} for one in (rehearsed, done)]
        assert shapes[0] == shapes[1]


def test_what_cannot_be_is_refused_before_any_work():
    with pytest.raises(InputError, match="layers: count is 4 and there are 3; lower it"):
        Layers(count=4).dry_prepare(tiny.model("bert"))
    for method in (Layers(), HiddenSize()):
        with pytest.raises(InputError, match="has no attention layers"):
            method.dry_prepare(tiny.model("bilstm"))


@pytest.mark.parametrize("over", [["attention", "ffn"], ["ffn"]])
def test_blocks_that_nobody_misses_go_first(over):
    model = tiny.model("bert", layers=3)
    for part, number in (("ffn_out", 1), ("out", 2)):
        model.anatomy.layers[number].part(part).weight.data.zero_()
    before = tiny.logits(model, tiny.batch(model))
    missed = Context(
        0,
        None,
        None,
        lambda model, count: [tiny.batch(model)],
        lambda model, batch: (model.network(**batch.inputs).logits - before).square().mean(),
        None,
        list,
    )
    made = Blocks(keep=0.67, over=over).prepare(model.clone(), missed)
    assert gone(made.anatomy.layers, "ffn") == [1] and gone(made.anatomy.layers, "attention") == [2] * (
        "attention" in over
    )
    torch.testing.assert_close(tiny.logits(made, tiny.batch(model)), before, atol=1e-5, rtol=0)


def test_the_last_attention_block_stays_however_little_it_is_missed():
    model = Blocks(keep=0.2, over=["attention", "ffn"]).prepare(tiny.model("bert", layers=3), CONTEXT)
    assert len(gone(model.anatomy.layers, "attention")) == 2 and len(gone(model.anatomy.layers, "ffn")) == 3


@pytest.mark.parametrize(
    "family, keep, over, says",
    [
        ("bert", 0.01, ["attention"], "removes 3 of 3 blocks, and 1 to 2 can be removed"),
        ("bert", 0.99, ["ffn"], "removes 0 of 3"),
        ("albert", 0.5, ["attention"], "one attention block, which must stay"),
        ("bilstm", 0.5, ["ffn"], "no attention layers"),
    ],
)
def test_what_no_blocks_can_be_taken_of_is_refused_on_a_skeleton(family, keep, over, says):
    with pytest.raises(InputError, match=says):
        Blocks(keep=keep, over=over).dry_prepare(tiny.model(family))
