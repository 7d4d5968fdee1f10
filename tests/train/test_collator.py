"""Batches from features."""

import numpy as np
import pytest
import torch

import tiny
from niwaki.answers.label import Label
from niwaki.models.features import Features
from niwaki.models.forward import NO_LABEL
from niwaki.train.collator import Collator, encode_rows, encode_split
from seq2seq import seq2seq_model

CPU = torch.device("cpu")
TEXTS = ["a film", "the plot was very dull and cold.", "good"]


def collator(model, targets=None) -> Collator:
    encoded = Label().encode(TEXTS, model.tokenizer.backend_tokenizer, 60)
    return Collator(Features(encoded, np.array([1, 0, 1]) if targets is None else targets), model, CPU)


def test_a_batch_is_padded_to_its_longest_row():
    model = tiny.model("bert")
    batch = collator(model).batch([2, 0])
    assert batch.inputs["input_ids"].shape == (2, 4) and batch.mask.tolist() == [[1, 1, 1, 0], [1, 1, 1, 1]]
    assert batch.inputs["input_ids"][0, 3] == model.tokenizer.pad_token_id
    assert batch.targets.tolist() == [1, 1] and batch.rows.tolist() == [2, 0]


def test_the_pad_token_is_that_of_the_model():
    model = tiny.model("roberta")
    assert collator(model).batch([2, 0]).inputs["input_ids"][0, 3] == model.tokenizer.pad_token_id == 1


@pytest.mark.parametrize(("family", "given"), [("bert", True), ("distilbert", False)])
def test_token_types_are_given_to_networks_that_read_them(family, given):
    assert ("token_type_ids" in collator(tiny.model(family)).batch([0]).inputs) == given


def test_lengths_are_those_of_the_rows():
    assert collator(tiny.model("bert")).lengths[[0, 2]].tolist() == [4, 3]


def test_a_decoder_is_given_the_targets_behind_the_start():
    batch = collator(seq2seq_model("bert"), tiny.written(3)).batch([0, 1, 2])
    start = collator(seq2seq_model("bert"), tiny.written(3)).start
    inputs, targets = batch.inputs["decoder_input_ids"], batch.targets
    assert (inputs[:, 0] == start).all() and inputs.shape == targets.shape
    known = targets[:, :-1] >= 0
    assert torch.equal(inputs[:, 1:][known], targets[:, :-1][known])
    assert (targets == NO_LABEL).any() and not (inputs == NO_LABEL).any()


def test_rows_are_cut_to_the_models_maximum(task):
    model = tiny.model("bert", max_position_embeddings=8)
    features = encode_split(model, task, "train")
    assert len(features) == task.splits()["train"].num_rows and features.lengths.max() == 8
    some = encode_rows(model, task, task.splits()["train"].slice(0, 3))
    assert some.rows.ids.values.tolist() == features.rows.ids.values[: some.rows.ids.starts[-1]].tolist()
