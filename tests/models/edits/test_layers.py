"""Removed and reordered layers."""

import pytest
import torch

import tiny
from niwaki.core.errors import InputError
from niwaki.models.edits.ffn import Ffn
from niwaki.models.edits.layers import Layers
from niwaki.models.model import Model, load_folder
from niwaki.models.skeleton import build


def test_reordered_layers_are_saved_and_loaded(tmp_path):
    model = tiny.model("bert")
    batch = tiny.batch(model)
    model.apply_edit(Ffn(keep=[[1, 2], [3], [4, 5, 6]]))
    model.apply_edit(Layers(keep=[2, 0]))
    assert [layer.ffn_size for layer in model.anatomy.layers] == [3, 2]
    model.save(tmp_path)
    assert torch.equal(tiny.logits(load_folder(tmp_path), batch), tiny.logits(model, batch))


def test_layers_of_shared_groups_cannot_be_removed():
    values = {**tiny.config("albert", 4, 32, 4, 64, tiny.LABELS, "SequenceClassification"), "num_hidden_groups": 2}
    model = Model(build(values), tiny.tokenizer())
    assert model.anatomy.order == [0, 0, 1, 1]
    with pytest.raises(InputError, match="runs several layers several times"):
        model.apply_edit(Layers(keep=2))
