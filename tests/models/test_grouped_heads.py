"""Heads that share keys and values: values by hand."""

import torch

import tiny
from niwaki.models.edits.heads import Heads
from niwaki.models.forward import forward
from niwaki.models.grouped_heads import of_each_head, without_unread


def test_keys_are_repeated_for_the_heads_that_read_them():
    rows = torch.tensor([[1.0, 2.0, 3.0, 4.0]])  # two keys of size 2
    assert of_each_head(rows, [0, 0, 1], 2).tolist() == [[1.0, 2.0, 1.0, 2.0, 3.0, 4.0]]
    assert of_each_head(rows, None, 2) is rows


def test_keys_that_no_head_reads_are_left_out():
    assert without_unread([0, 0, 1, 1, 2, 2], [0, 4, 5]) == ([0, 2], [0, 1, 1])


@torch.no_grad()
def test_single_heads_can_be_cut_several_times():
    model = tiny.model("llama", layers=1)
    batch, whole = tiny.batch(model), model.clone()
    (layer,) = whole.anatomy.layers
    layer.part("out").weight[:, 8:16] = 0  # head 1
    layer.part("out").weight[:, 24:] = 0  # head 3
    wanted = forward(whole.anatomy, batch).logits
    model.apply_edit(Heads(keep=[[0, 1, 2]]))
    (layer,) = model.anatomy.layers
    assert layer.mixer.key_heads == [0, 0, 1] and layer.part("key").out_features == 16
    model.apply_edit(Heads(keep=[[0, 2]]))
    (layer,) = model.anatomy.layers
    assert layer.mixer.key_heads == [0, 1]
    torch.testing.assert_close(forward(model.anatomy, batch).logits, wanted, atol=1e-5, rtol=0)
