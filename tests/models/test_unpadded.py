"""Without padding a network answers as with it: every family, every head, cut and silenced."""

import pytest
import torch

import tiny
from niwaki.models.edits.blocks import Blocks
from niwaki.models.edits.heads import Heads
from niwaki.models.edits.int8 import Int8
from niwaki.models.lean import Lean
from niwaki.models.skeleton import HEADS
from niwaki.models.unpadded import Unpadded


def both(model, batch):
    ids, mask = batch.inputs["input_ids"], batch.mask
    types = batch.inputs.get("token_type_ids", torch.zeros_like(mask))
    with torch.no_grad():
        padded = Lean(model.network.eval(), model.anatomy)(ids, mask, types)
        found = Unpadded(model.network, model.anatomy)(ids, mask, types)
    return found, padded[mask.bool()] if padded.ndim == 3 else padded


@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("family", tiny.FAMILIES)
def test_it_gives_what_the_padded_pass_gives(family, head):
    model = tiny.model(family, head=head)
    found, wanted = both(model, tiny.batch(model, count=9, pairs=True))
    assert wanted.std() > 0.05
    torch.testing.assert_close(found, wanted, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("family", ["bert", "mpnet"])
def test_also_where_heads_and_whole_blocks_are_gone_and_weights_are_packed(family):
    model = tiny.model(family)
    model.operate(Heads(keep=[[1, 3], [0, 1, 2], [0]]))
    model.operate(Blocks(attention=[1], ffn=[0, 2]))
    model.operate(Int8())
    found, wanted = both(model, tiny.batch(model))
    torch.testing.assert_close(found, wanted, atol=1e-5, rtol=1e-5)
