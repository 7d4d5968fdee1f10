"""Sequences that are cut while a training begins."""

import pytest
import torch

import tiny
from niwaki.core.errors import InputError
from niwaki.models.forward import Batch
from niwaki.train.short_sequences import ShortSequences


def batch():
    """Seven and two tokens between [CLS] (2) and [SEP] (3)."""
    ids = torch.tensor([[2, 10, 11, 12, 13, 14, 15, 16, 3], [2, 20, 21, 3, 0, 0, 0, 0, 0]])
    mask = torch.tensor([[1] * 9, [1] * 4 + [0] * 5])
    inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": torch.zeros_like(ids)}
    return Batch(inputs, torch.tensor([7, 8]), torch.tensor([70, 80]))


def test_sequences_are_cut_into_nearly_equal_parts():
    found = ShortSequences(tiny.model("bert"), 5, 0.9).apply(batch(), 0.5)
    assert found.inputs["input_ids"].tolist() == [
        [2, 10, 11, 12, 3],
        [2, 13, 14, 3, 0],
        [2, 15, 16, 3, 0],
        [2, 20, 21, 3, 0],
    ]
    assert found.mask.sum(dim=1).tolist() == [5, 4, 4, 4]
    assert found.targets.tolist() == [7, 7, 7, 8] and found.rows.tolist() == [70, 70, 70, 80]
    assert found.inputs.keys() == batch().inputs.keys()


@pytest.mark.parametrize("tokens, progress", [(0, 0.0), (5, 0.9), (9, 0.0)])
def test_later_and_shorter_sequences_stay(tokens, progress):
    given = batch()
    assert ShortSequences(tiny.model("bert"), tokens, 0.9).apply(given, progress) is given


def test_a_length_without_room_is_rejected():
    with pytest.raises(InputError, match="2 leave no room between 2 special tokens"):
        ShortSequences(tiny.model("bert"), 2, 0.9)
