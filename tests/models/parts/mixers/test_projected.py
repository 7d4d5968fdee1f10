"""Attention with matrices of its own: heads are counted and cut as those of plain attention."""

import pytest
import torch

import tiny
from converted import check_saved_and_exported, outputs
from niwaki.core.errors import InputError
from niwaki.methods.convert.linear_attention import LinearAttention
from niwaki.methods.convert.window import Window
from niwaki.models.edits.blocks import Blocks
from niwaki.models.edits.heads import Heads
from niwaki.models.layout import Packed, Padded
from niwaki.models.parts.mixers.window import Window as WindowPart
from niwaki.models.parts.mixers.window import WindowSettings

KEEP = [[2], [0, 1, 3], [0, 3]]
CONVERSIONS = {"window": Window(window=2), "linear_attention": LinearAttention()}


def test_the_size_of_a_head_may_be_given():
    part = WindowPart(12, WindowSettings(attention_heads=2, attention_head_size=5))
    assert part.query.out_features == 10 and part.out.in_features == 10 and part.scale == 5**-0.5
    assert WindowPart(12, WindowSettings(attention_heads=3)).query.out_features == 12


def test_an_objective_that_hides_tokens_is_rejected():
    layout = Packed(torch.ones(1, 4).long(), visible=torch.ones(1, 4, 4).bool())
    with pytest.raises(InputError, match="hides tokens from each other"):
        WindowPart(8, WindowSettings()).forward(torch.randn(4, 8), layout, {})


@pytest.mark.parametrize("family", ["bert", "mpnet"])
@pytest.mark.parametrize("conversion", CONVERSIONS)
def test_cutting_heads_equals_removing_what_they_give(family, conversion, tmp_path):
    model = CONVERSIONS[conversion].dry_prepare(tiny.model(family))
    assert [layer.heads for layer in model.anatomy.attentions] == [4, 4, 4]
    batch, gated = tiny.batch(model), model.clone()
    for layer, keep in zip(gated.anatomy.layers, KEEP, strict=True):
        for head in {0, 1, 2, 3} - set(keep):
            with torch.no_grad():
                layer.part("out").weight[:, head * 8 : head * 8 + 8] = 0
    wanted = outputs(gated, batch)
    model.apply_edit(Heads(keep=KEEP))
    assert [layer.heads for layer in model.anatomy.attentions] == [1, 3, 2]
    torch.testing.assert_close(outputs(model, batch), wanted, atol=1e-5, rtol=0)
    model.apply_edit(Heads(keep=[[0], [1, 2], [1]]))  # counted among those that are left
    check_saved_and_exported(model, tmp_path)


@pytest.mark.parametrize("conversion", CONVERSIONS)
def test_whole_blocks_are_removed(conversion, tmp_path):
    model = CONVERSIONS[conversion].dry_prepare(tiny.model("bert"))
    model.apply_edit(Blocks(attention=[1], ffn=[0]))
    assert [layer.mixer.removed for layer in model.anatomy.layers] == [False, True, False]
    check_saved_and_exported(model, tmp_path)


@pytest.mark.parametrize("is_packed", [False, True])
@pytest.mark.parametrize("conversion", [*CONVERSIONS, "local"])
def test_the_first_tokens_alone_get_the_same_rows(conversion, is_packed):
    how = {**CONVERSIONS, "local": Window(window=2, global_tokens=0)}[conversion]
    mixer = how.dry_prepare(tiny.model("bert")).anatomy.layers[0].mixer
    mask = (torch.arange(9)[None] < torch.tensor([[5], [9], [1]])).long()
    states = torch.randn(3, 9, 32)
    layout = Packed(mask) if is_packed else Padded(mask, states)
    rows = layout.pack(states)
    wanted = layout.first(mixer.forward(rows, layout, {}))
    torch.testing.assert_close(mixer.forward_first(rows, layout, {}), wanted, atol=1e-5, rtol=0)
