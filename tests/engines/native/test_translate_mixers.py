"""What programs say of mixers."""

from engines.native.test_translate import program
from niwaki.models.edits.heads import Heads
from niwaki.models.edits.replace_part import ReplacePart


def test_windows_and_rotary_positions_are_written_down():
    model, found = program("modernbert")
    local, whole = found.layers[1].attention, found.layers[0].attention
    assert (
        whole.window is None
        and local.window.tokens == model.network.config.local_attention // 2
        and found.layers[0].attended is None
    )
    assert found.pre_norm and found.last.centers and found.positions is None and found.layers[0].ffn.gate
    assert program("roformer")[1].layers[0].attention.rotary.neighbours and not local.rotary.neighbours
    settings = {"window": 5, "dilation": 2, "global_tokens": 3, "attention_heads": 4}
    _, found = program("bert", ReplacePart(slot="mixer", part="window", layers=[1], settings=settings))
    window = found.layers[1].attention.window
    assert (window.tokens, window.dilation, window.first_tokens) == (5, 2, 3) and not found.layers[0].attention.window


def test_heads_of_a_window_that_are_left_keep_their_distances():
    settings = {"window": 5, "attention_heads": 4}
    _, found = program(
        "mpnet", ReplacePart(slot="mixer", part="window", layers=[1], settings=settings), Heads(keep=[4, 2, 4])
    )
    assert [len(layer.attention.relative.heads) for layer in found.layers] == [4, 2, 4]
    assert found.layers[1].attention.heads == 2 and found.layers[1].attention.scale is None
