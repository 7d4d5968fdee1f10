"""Edits that do not apply to a model are rejected and change nothing."""

import pytest
import torch

import tiny
from niwaki.core.errors import InputError
from niwaki.models.edits.ffn import Ffn
from niwaki.models.edits.heads import Heads
from niwaki.models.edits.hidden_size import HiddenSize
from niwaki.models.edits.layers import Layers
from niwaki.models.edits.vocabulary import Vocabulary


@pytest.mark.parametrize(
    "edit, message",
    [
        (Heads(keep=[[0], [0]]), "heads: 2 layers are named and the model has 3"),
        (Heads(keep=[[0], [0], []]), "heads of layer 2: at least one must be kept"),
        (Heads(keep=[[0], [0, 0], [1]]), "heads of layer 1: must be different numbers below 4"),
        (Ffn(keep=[64, 64, 65]), "ffn of layer 2: must be different numbers below 64"),
        (Ffn(keep=[10**15, 1, 1]), "ffn of layer 0: must be different numbers below 64"),
        (Layers(keep=[3]), "layers: must be different numbers below 3"),
        (Layers(keep=0), "layers: at least one"),
        (HiddenSize(keep=[-1]), "hidden_size: must be different numbers below 32"),
        (Vocabulary(keep=10**9), "vocabulary: must be different numbers below"),
    ],
)
def test_impossible_edit_is_rejected_and_changes_nothing(edit, message):
    model = tiny.model("bert")
    before = tiny.logits(model, tiny.batch(model))
    with pytest.raises(InputError, match=message) as caught:
        model.apply_edit(edit)
    assert len(str(caught.value)) < 200
    assert model.blueprint.edits == []
    torch.testing.assert_close(tiny.logits(model, tiny.batch(model)), before)
