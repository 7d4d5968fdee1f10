"""Sums of Kronecker products in a network: saved, loaded, packed, shared, cut, exported."""

import pytest
import torch

import tiny
from niwaki.core.errors import InputError
from niwaki.models.edits.ffn import Ffn
from niwaki.models.edits.heads import Heads
from niwaki.models.edits.hidden_size import HiddenSize
from niwaki.models.edits.int8 import Int8
from niwaki.models.edits.kronecker import Kronecker
from niwaki.models.edits.share import Share
from niwaki.models.packed.int8 import Int8Linear
from niwaki.models.packed.kronecker import Kronecker as PackedWeight

from .saved import again, in_engine, numbers


def sizes(model, terms=4):
    return [(8, 8, terms)] * len(list(model.anatomy.whole_matrices()))


@pytest.mark.parametrize("family", ["bert", "mpnet", "distilbert", "albert"])
def test_saved_loaded_and_exported(family, tmp_path):
    model = tiny.model(family)
    size = model.parameters()
    named = [
        one if path.count("layer") else None
        for path, one in zip(model.anatomy.whole_matrices(), sizes(model), strict=True)
    ]
    model.apply_edit(Kronecker(sizes=named))
    again(model, tmp_path)
    assert numbers(tmp_path) == model.parameters() < size
    if family in ("bert", "mpnet"):
        assert in_engine(model, tmp_path) < 1e-4


def test_behind_it_neighbours_are_found_in_batches_of_any_size(tmp_path):
    """What it makes of a product has sizes that a traced graph takes for fixed."""
    model = tiny.model("averaging")
    named = [(2, 8, 2) if "factors" in path else None for path in model.anatomy.whole_matrices()]
    model.apply_edit(Kronecker(sizes=named))
    assert isinstance(again(model, tmp_path).network.body.factors[0], PackedWeight)
    assert in_engine(model, tmp_path) < 1e-4


def test_all_terms_change_no_answer():
    model = tiny.model("bert")
    before = tiny.logits(model, tiny.batch(model))
    terms = {32 * 32: (8, 8, 32), 32 * 64: (8, 8, 32)}
    named = [
        terms[m.in_features * m.out_features] for m in map(model.network.get_submodule, model.anatomy.whole_matrices())
    ]
    model.apply_edit(Kronecker(sizes=named))
    torch.testing.assert_close(tiny.logits(model, tiny.batch(model)), before, atol=1e-4, rtol=0)


def test_packed_cut_and_shared_afterwards(tmp_path):
    model = tiny.model("bert", layers=4)
    model.apply_edit(Share(of=[0, 0, 2, 2]))
    model.apply_edit(Kronecker(sizes=sizes(model)))
    for cut in (Heads(keep=[[1, 3]] * 4), Ffn(keep=[[*range(48)]] * 4), HiddenSize(keep=list(range(24))), Int8()):
        model.apply_edit(cut)
    one, two, three, _ = (layer.part("ffn_in") for layer in again(model, tmp_path).anatomy.layers)
    assert one is two is not three
    assert (
        isinstance(one, PackedWeight)
        and isinstance(one.first, Int8Linear)
        and (one.in_features, one.out_features) == (24, 48)
    )
    assert in_engine(model, tmp_path) < 0.2


def test_packed_weights_stay_packed(tmp_path):
    model = tiny.model("bert")
    model.apply_edit(Int8())
    model.apply_edit(Kronecker(sizes=sizes(model)))
    assert isinstance(again(model, tmp_path).anatomy.layers[0].part("out").second, Int8Linear)


@pytest.mark.parametrize(
    "named, message",
    [
        ([None], "kronecker: 1 sizes are named and the model has 18 matrices"),
        ([(5, 8, 1)] + [None] * 17, "has no factors of 5 rows and 8 columns with 1 terms"),
        ([(8, 8, 33)] + [None] * 17, "with 33 terms"),
        ([(0, 8, 1)] + [None] * 17, "has no factors of 0 rows"),
    ],
)
def test_sizes_that_do_not_fit_are_rejected(named, message):
    model = tiny.model("bert")
    with pytest.raises(InputError, match=message):
        model.apply_edit(Kronecker(sizes=named))
    assert not model.blueprint.edits
