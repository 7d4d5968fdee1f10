"""One network, all of whose shapes are trained."""

from dataclasses import replace

import pytest
import torch

import tiny
from calibrated import CONTEXT
from niwaki.core.errors import InputError
from niwaki.methods.prune._shapes import Shape, cut
from niwaki.methods.prune.supernet import Supernet
from niwaki.models.criteria import CrossEntropy
from niwaki.models.dropout import set_dropout
from niwaki.models.forward import forward
from niwaki.models.head_order import head_order
from niwaki.models.importance import importance
from niwaki.models.model import load_folder

CONTEXT = replace(CONTEXT, soft_loss=CrossEntropy().soft_loss)


def prepared(family="bert"):
    return Supernet(batches=2).prepare(tiny.model(family, seed=1), CONTEXT)


def test_ordering_changes_no_answer_and_needs_no_blueprint():
    model = tiny.model("bert", seed=1)
    batch = tiny.batch(model)
    before = tiny.logits(model, batch)
    model = Supernet(batches=2).prepare(model, CONTEXT)
    torch.testing.assert_close(tiny.logits(model, batch), before, atol=1e-5, rtol=0)
    assert model.blueprint.edits == []


def test_neurons_are_in_the_order_of_their_importance_and_heads_are_recorded_in_it():
    model = prepared()
    worth = importance(model, CONTEXT.calibration(model, 2), CONTEXT.loss)
    for neurons, heads, order in zip(worth.neurons, worth.heads, head_order(model.network), strict=True):
        assert (neurons[:-1] >= neurons[1:] - 1e-6).all()
        assert (heads[order][:-1] >= heads[order][1:] - 1e-6).all()


def test_layers_that_share_their_matrices_have_one_order(tmp_path):
    model = prepared("albert")
    assert len(head_order(model.network)) == len(model.anatomy.attentions)
    cut(model, Shape(2, 0.5, 0.5), head_order(model.network))
    model.save(tmp_path)
    assert torch.equal(tiny.logits(load_folder(tmp_path), tiny.batch(model)), tiny.logits(model, tiny.batch(model)))


def test_the_order_is_saved_and_forgotten_with_the_first_cut(tmp_path):
    model = prepared()
    order = head_order(model.network)
    model.save(tmp_path)
    again = load_folder(tmp_path)
    assert head_order(again.network) == order
    cut(again, Shape(3, 0.5, 1.0), order)
    assert head_order(again.network) is None and [layer.heads for layer in again.anatomy.layers] == [2, 2, 2]


def test_the_loss_adds_that_of_the_smallest_shape_compared_with_the_whole():
    model, method = prepared(), Supernet(samples=1, weight=0.5, temperature=1.5)
    set_dropout(model.network.train(), 0.0)
    batch, order = tiny.batch(model), head_order(model.network)
    outputs = forward(model.anatomy, batch)
    found = method.loss(model, batch, outputs, torch.tensor(3.0), CONTEXT)
    small = model.clone()
    cut(small, Shape(1, 0.25, 0.25), order)
    wanted = CrossEntropy().soft_loss(forward(small.anatomy, batch).logits, outputs.logits.detach(), batch, 1.5)
    assert float(wanted) > 0
    assert float(found) == pytest.approx(3.0 + 0.5 * float(wanted), abs=1e-5)


def test_a_step_draws_its_shapes_from_torchs_generator():
    model, method = prepared(), Supernet(samples=16)
    drawn = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        drawn.append(method.shapes(model.anatomy))
    assert drawn[0] == drawn[1] != drawn[2]
    assert drawn[0][0] == drawn[2][0] == Shape(1, 0.25, 0.25) and len({*drawn[0], *drawn[2]}) > 12


@pytest.mark.parametrize("wrong", [{"layers": [0.0]}, {"heads": [1.5]}, {"ffn": [-1.0]}])
def test_shares_that_are_none_are_rejected(wrong):
    with pytest.raises(InputError, match="must be fractions above 0, up to 1"):
        Supernet(**wrong).dry_prepare(tiny.model("bert"))
