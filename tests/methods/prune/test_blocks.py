"""Pruning attention and feed-forward blocks."""

import pytest
import torch

import tiny
from calibrated import CONTEXT, distance_to
from niwaki.core.errors import InputError
from niwaki.methods.prune.blocks import Blocks
from niwaki.models.edits.blocks import gone


@pytest.mark.parametrize("over", [["attention", "ffn"], ["ffn"]])
def test_blocks_without_effect_are_removed_first(over):
    model = tiny.model("bert", layers=3)
    for part, number in (("ffn_out", 1), ("out", 2)):
        model.anatomy.layers[number].part(part).weight.data.zero_()
    before = tiny.logits(model, tiny.batch(model))
    pruned = Blocks(keep=0.67, over=over).prepare(model.clone(), distance_to(before))
    assert gone(pruned.anatomy.layers, "ffn") == [1] and gone(pruned.anatomy.layers, "attention") == [2] * (
        "attention" in over
    )
    torch.testing.assert_close(tiny.logits(pruned, tiny.batch(model)), before, atol=1e-5, rtol=0)


def test_the_last_attention_block_stays():
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
def test_impossible_numbers_of_blocks_are_rejected_in_the_dry_run(family, keep, over, says):
    with pytest.raises(InputError, match=says):
        Blocks(keep=keep, over=over).dry_prepare(tiny.model(family))
