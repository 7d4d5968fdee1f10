"""Layers that share matrices: what comes out is what copies of them give; one in the file, one after every further edit."""

import pytest
import torch

import tiny
from niwaki.core.errors import InputError
from niwaki.models.blueprint import is_stock
from niwaki.models.edits.factored import Factored
from niwaki.models.edits.ffn import Ffn
from niwaki.models.edits.heads import Heads
from niwaki.models.edits.hidden_size import HiddenSize
from niwaki.models.edits.int8 import Int8
from niwaki.models.edits.layers import Layers
from niwaki.models.edits.low_bit import LowBit
from niwaki.models.edits.share import SLOTS, Share
from niwaki.models.edits.sparse import Sparse
from niwaki.models.forward import forward
from niwaki.models.importance import importance
from niwaki.models.record import HIDDEN, SCORES, STATES

from .saved import again, in_engine, numbers

STOCK = ("bert", "distilbert", "electra", "mpnet", "roberta")


def shared(family="bert", what="all", layers=4):
    model = tiny.model(family, layers=layers)
    model.apply_edit(Share(of=[0, 0, 2, 2], what=what))
    return model


def tied(model, what="all") -> bool:
    one, two, three, _ = model.anatomy.layers
    same = [
        one.part(part) is two.part(part) and one.part(part) is not three.part(part)
        for part in one.matrices(*SLOTS[what])
    ]
    return all(same)


@pytest.mark.parametrize("what", ["all", "attention", "ffn"])
@pytest.mark.parametrize("family", STOCK)
def test_it_gives_what_copies_give(family, what, tmp_path):
    model, copies = shared(family, what), tiny.model(family, layers=4)
    layers = copies.anatomy.layers
    for number, other in enumerate([0, 0, 2, 2]):
        for part in layers[number].matrices(*SLOTS[what]):
            layers[number].part(part).load_state_dict(layers[other].part(part).state_dict())
    assert torch.equal(tiny.logits(model, tiny.batch(model)), tiny.logits(copies, tiny.batch(copies)))
    assert not is_stock(model.network)
    found = again(model, tmp_path)
    assert tied(found, what) and numbers(tmp_path) == model.parameters() < 0.8 * copies.parameters()
    if what == "all" and family in ("bert", "mpnet"):
        assert in_engine(model, tmp_path) < 1e-4


EDITS = {
    "heads": Heads(keep=[[1, 3], [1, 3], [0], [0]]),
    "ffn": Ffn(keep=[[5, 3], [5, 3], 60, 60]),
    "width": HiddenSize(keep=list(range(3, 20))),
    "int8": Int8(),
    "digits": LowBit(base=16, group=8),
    "sparse": Sparse(),
    "factored": Factored(ranks=[4] * 24),
}


@pytest.mark.parametrize("name", EDITS)
@pytest.mark.parametrize("family", ["bert", "mpnet"])
def test_still_one_after_every_edit(family, name, tmp_path):
    model = shared(family)
    size = model.parameters()
    model.apply_edit(EDITS[name])
    assert tied(model) and tied(again(model, tmp_path))
    assert numbers(tmp_path) == model.parameters()
    if name in ("heads", "ffn", "width", "factored"):
        assert model.parameters() < size


def test_heads_of_shared_layers_keep_their_own_bias(tmp_path):
    """MPNet adds a bias to each head by its number in every layer, shared or not."""
    model = shared("mpnet")
    whole = model.clone()
    batch = tiny.batch(model)
    for layer, keep in zip(whole.anatomy.layers, ([1, 3], [1, 3], [0], [0]), strict=True):
        mask = torch.zeros(4, 8)
        mask[keep] = 1
        flat = mask.flatten()
        layer.part("out").register_forward_pre_hook(lambda module, args, flat=flat: (args[0] * flat,))
    wanted = tiny.logits(whole, batch)
    model.apply_edit(EDITS["heads"])
    torch.testing.assert_close(tiny.logits(model, batch), wanted, atol=2e-5, rtol=0)
    torch.testing.assert_close(tiny.logits(again(model, tmp_path), batch), wanted, atol=2e-5, rtol=0)


@pytest.mark.parametrize(
    "edit, message",
    [
        (
            Heads(keep=[[1], [2], [0], [0]]),
            "heads: layer 0 and layer 1 share their matrices, so the same must be done to both",
        ),
        (Ffn(keep=[5, 6, 5, 5]), "ffn: layer 0 and layer 1 share their matrices, so the same must be done to both"),
    ],
)
def test_layers_that_share_cannot_keep_different_parts(edit, message):
    model = shared()
    before = tiny.logits(model, tiny.batch(model))
    with pytest.raises(InputError, match=message):
        model.apply_edit(edit)
    assert torch.equal(tiny.logits(model, tiny.batch(model)), before)


def test_only_attention_shared_leaves_neurons_free():
    model = shared(what="attention")
    model.apply_edit(Ffn(keep=[5, 6, 7, 8]))
    assert [layer.ffn_size for layer in model.anatomy.layers] == [5, 6, 7, 8] and tied(model, "attention")


def test_what_is_important_is_the_same_for_layers_that_share():
    model = shared()
    loss = lambda model, batch: torch.nn.functional.cross_entropy(model.network(**batch.inputs).logits, batch.targets)  # noqa: E731
    worth = importance(model, [tiny.batch(model)], loss)
    assert torch.equal(worth.heads[0], worth.heads[1]) and torch.equal(worth.neurons[2], worth.neurons[3])


def test_layers_can_be_left_out_of_shared_ones(tmp_path):
    model = shared()
    model.apply_edit(Layers(keep=[0, 1, 3]))
    layers = again(model, tmp_path).anatomy.layers
    assert layers[0].part("query") is layers[1].part("query") is not layers[2].part("query")


def test_layers_that_share_are_trained_together():
    model = shared()
    model.network(**tiny.batch(model).inputs).logits.sum().backward()
    torch.optim.SGD(model.network.parameters(), lr=0.1).step()
    assert tied(model)
    norms = [layer.part("ffn_norm").weight for layer in model.anatomy.layers]
    assert not torch.equal(norms[0], norms[1])


@pytest.mark.parametrize(
    "edit, message",
    [
        (Share(of=[0, 0]), "share: must name one of 4 layers for each of them"),
        (Share(of=[0, 0, 2, 4]), "share: must name one of 4 layers"),
        (Share(of=[1, 2, 2, 3]), "share: layer 0 takes the matrices of layer 1, which takes those of another"),
    ],
)
def test_impossible_numbers_are_rejected_without_changes(edit, message):
    model = tiny.model("bert", layers=4)
    with pytest.raises(InputError, match=message):
        model.apply_edit(edit)
    assert is_stock(model.network) and not model.blueprint.edits


def test_layers_of_different_shapes_and_shared_layers_are_rejected():
    model = tiny.model("bert", layers=4)
    model.apply_edit(Ffn(keep=[5, 6, 7, 8]))
    with pytest.raises(InputError, match=r"share: ffn_in of layers 0 and 1 differ in shape .* share before cutting"):
        model.apply_edit(Share(of=[0, 0, 2, 2]))
    with pytest.raises(InputError, match="share: the layers of this model are already shared"):
        tiny.model("albert").apply_edit(Share(of=[0]))


def test_activations_of_shared_layers_are_recorded_at_each_depth():
    """What `tinybert` and `relations` read: as many as layers run, in their order."""
    model = tiny.model("bert", layers=4)
    batch = tiny.batch(model)
    model.apply_edit(Share(of=[0, 0, 2, 2]))
    needs = frozenset({HIDDEN, SCORES, *STATES})
    found = forward(model.anatomy, batch, needs)
    assert [len(part) for part in (found.hidden, found.scores, found.queries, found.keys, found.values)] == [
        5,
        4,
        4,
        4,
        4,
    ]
    for depth, layer in enumerate(model.anatomy.layers):
        wanted = layer.part("key")(found.hidden[depth])
        torch.testing.assert_close(tiny.real(found.keys[depth], batch), tiny.real(wanted, batch))
