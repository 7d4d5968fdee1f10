"""Ranks that are left out: what is left gives what the whole gives with them switched off."""

import pytest
import torch

import tiny
from niwaki.core.errors import InputError
from niwaki.models.edits.factored import Factored
from niwaki.models.edits.int8 import Int8
from niwaki.models.edits.ranks import Ranks, factored
from niwaki.models.edits.share import Share
from niwaki.models.model import load_folder


@pytest.mark.parametrize("family, packed", [("bert", False), ("albert", False), ("mpnet", False), ("bert", True)])
def test_ranks_that_are_cut_are_those_that_were_switched_off(family, packed, tmp_path):
    model = tiny.model(family)
    count = len(list(model.anatomy.whole_matrices()))
    model.apply_edit(Factored(ranks=[0, *[6 + number % 2 for number in range(count - 1)]]))
    if packed:
        model.apply_edit(Int8())
    off = model.clone()
    found = factored(off.network, off.anatomy)
    keep = [[0, 2, 3, 5] if number % 3 else [1, 4] for number in range(len(found))]
    for module, ranks in zip(found.values(), keep, strict=True):
        gate = torch.zeros(module.rank).index_fill(0, torch.tensor(ranks), 1.0)
        module.second.register_forward_pre_hook(lambda _, args, gate=gate: (args[0] * gate,))
    model.apply_edit(Ranks(keep=keep))
    batch = tiny.batch(model)
    torch.testing.assert_close(tiny.logits(model, batch), tiny.logits(off, batch), atol=1e-5, rtol=0)
    assert [module.rank for module in factored(model.network, model.anatomy).values()] == [len(ranks) for ranks in keep]
    model.save(tmp_path)
    assert torch.equal(tiny.logits(load_folder(tmp_path), batch), tiny.logits(model, batch))


def test_shared_matrices_keep_the_same_ranks():
    model = tiny.model("bert")
    model.apply_edit(Share(of=[0, 0, 0]))
    model.apply_edit(Factored(ranks=[4] * 18))
    with pytest.raises(InputError, match=r"ranks: .* and .* share their matrices"):
        model.apply_edit(Ranks(keep=[[0]] * 6 + [[1]] * 12))
    model.apply_edit(Ranks(keep=[[0, 3]] * 18))
    assert (
        len({id(layer.part("out")) for layer in model.anatomy.layers}) == 1
        and model.anatomy.layers[2].part("out").rank == 2
    )


@pytest.mark.parametrize(
    "keep, words",
    [
        ([1], "ranks: 1 layers are named and the model has 2"),
        ([9, 1], "ranks of layer 0: must be"),
        ([1, []], "at least one"),
    ],
)
def test_missing_ranks_are_rejected(keep, words):
    model = tiny.model("bert")
    model.apply_edit(Factored(ranks=[4, 4, *[0] * 16]))
    with pytest.raises(InputError, match=words):
        model.apply_edit(Ranks(keep=keep))
