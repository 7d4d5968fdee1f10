"""Removed neurons of feed-forward blocks. Every family is tested in tests/models/test_edits.py."""

import pytest
import torch

import tiny
from niwaki.core.errors import InputError
from niwaki.models.edits.ffn import Ffn
from niwaki.models.edits.share import Share
from niwaki.models.model import load_folder


def test_even_cuts_are_stated_by_the_config():
    model = tiny.model("bert")
    model.apply_edit(Ffn(keep=[[0, 5, 9], 3, [60, 61, 63]]))
    assert [block.ffn_size for block in model.anatomy.blocks] == [3, 3, 3]
    assert model.network.config.intermediate_size == 3 and model.blueprint.edits == []


def test_uneven_cuts_are_in_the_blueprint_as_numbers(tmp_path):
    model = tiny.model("bert")
    model.apply_edit(Ffn(keep=[[0, 5, 9], 4, 2]))
    assert model.network.config.intermediate_size == 64
    assert model.blueprint.to_json()["edits"] == [{"edit": "ffn", "keep": [3, 4, 2]}]
    model.save(tmp_path)
    batch = tiny.batch(model)
    assert torch.equal(tiny.logits(load_folder(tmp_path), batch), tiny.logits(model, batch))


def test_a_number_keeps_the_first_neurons():
    model = tiny.model("bert")
    weight = model.anatomy.blocks[1].producer.weight.clone()
    model.apply_edit(Ffn(keep=[64, 7, 64]))
    assert torch.equal(model.anatomy.blocks[1].producer.weight, weight[:7])


def test_shared_blocks_stay_shared():
    model = tiny.model("bert")
    model.apply_edit(Share(of=[0, 0, 2]))
    batch = tiny.batch(model)
    model.apply_edit(Ffn(keep=[[1, 2], [1, 2], [3]]))
    first, second, _ = model.anatomy.blocks
    assert first.producer is second.producer and first.consumer is second.consumer
    assert torch.isfinite(tiny.logits(model, batch)).all()


def test_shared_blocks_must_be_cut_alike():
    model = tiny.model("bert")
    model.apply_edit(Share(of=[0, 0, 2]))
    with pytest.raises(InputError, match="ffn: "):
        model.apply_edit(Ffn(keep=[[1, 2], [1, 3], [3]]))


@pytest.mark.parametrize("keep", [[2], [[0, 0], 2, 2], [[64], 2, 2], [[], 2, 2], [65, 2, 2], [0, 2, 2]])
def test_impossible_neurons_are_rejected(keep):
    model = tiny.model("bert")
    with pytest.raises(InputError, match=r"^ffn( of layer 0)?: "):
        model.apply_edit(Ffn(keep=keep))
    assert [block.ffn_size for block in model.anatomy.blocks] == [64, 64, 64]
