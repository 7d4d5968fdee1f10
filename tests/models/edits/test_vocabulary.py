"""Trimmed vocabularies."""

import pytest
import torch

import tiny
from niwaki.core.errors import InputError
from niwaki.models.edits.vocabulary import Vocabulary
from niwaki.models.forward import Batch


def test_padding_token_must_keep_its_id_if_positions_depend_on_it():
    model = tiny.model("roberta")
    keep = [number for number in range(len(model.tokenizer)) if number != 0]  # so the padding mark, 1, becomes 0
    with pytest.raises(InputError, match="padding token"):
        model.apply_edit(Vocabulary(keep=keep))


def test_moved_padding_token_is_renumbered():
    model = tiny.model("bert")
    keep = [5, 0, 1, 2, 3, 4, *range(6, 60)]
    batch = tiny.batch(model)
    wanted = tiny.logits(model, batch)
    new = torch.full((len(model.tokenizer),), -1)
    new[keep] = torch.arange(len(keep))
    model.apply_edit(Vocabulary(keep=keep))
    assert model.network.config.pad_token_id == 1
    ids = new[batch.inputs["input_ids"]]
    rows = (ids >= 0).all(dim=1)
    if rows.any():
        inputs = {name: value[rows] for name, value in {**batch.inputs, "input_ids": ids}.items()}
        torch.testing.assert_close(tiny.logits(model, Batch(inputs, batch.targets, batch.rows)), wanted[rows])
