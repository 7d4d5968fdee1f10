"""Vectors from a model: of its table, of its reading, for another tokenizer; principal components against SVD."""

import pytest
import torch
from tokenizers import Tokenizer

import tiny
from niwaki.models.edits.int8 import Int8
from niwaki.models.forward import Batch, forward
from niwaki.models.record import HIDDEN
from niwaki.models.vectors import bare, evened, read_vectors, reduced, source_token_ids, table_vectors, vectors_for
from niwaki.tokenization.trimming import trimmed


def test_the_same_tokenizer_is_known_piece_by_piece():
    model = tiny.model("bert")
    assert source_token_ids(model.tokenizer, model) == [[number] for number in range(len(model.tokenizer))]


def test_a_piece_that_the_source_does_not_know_is_split_as_it_would_split_it():
    """A source that lost `lovely` splits it into the smaller tokens that it has."""
    whole = tiny.tokenizer()
    source = tiny.model("bert")
    lost = whole.convert_tokens_to_ids("lovely")
    source.tokenizer = trimmed(whole, [number for number in range(len(whole)) if number != lost])
    rows = source_token_ids(whole, source)
    assert source.tokenizer.convert_ids_to_tokens(rows[lost]) == ["l", "##o", "##v", "##e", "##ly"]
    assert len(rows) == len(whole) and all(len(row) == 1 for number, row in enumerate(rows) if number != lost)
    assert (bare("##ing"), bare("\u0120the"), bare("\u2581the"), bare("a")) == ("ing", "the", "the", "a")


def test_table_vectors_are_rows_and_their_means():
    model = tiny.model("bert")
    table = model.network.bert.embeddings.word_embeddings.weight
    found = table_vectors(model, [[7], [8, 9], [3]])
    torch.testing.assert_close(found, torch.stack([table[7], (table[8] + table[9]) / 2, table[3]]).detach())


@pytest.mark.parametrize("family", ["bert", "mpnet", "bilstm"])
@torch.no_grad()
def test_read_vectors_are_the_means_of_each_reading_alone(family):
    model = tiny.model(family)
    cls, sep = model.tokenizer.cls_token_id, model.tokenizer.sep_token_id
    for row, found in zip([[7], [8, 9, 10]], read_vectors(model, [[7], [8, 9, 10]]), strict=True):
        ids = torch.tensor([[cls, *row, sep]])
        batch = Batch({"input_ids": ids, "attention_mask": torch.ones_like(ids)}, ids, ids)
        last = forward(model.anatomy, batch, frozenset({HIDDEN})).hidden[-1]
        torch.testing.assert_close(found, last[0].mean(dim=0), atol=1e-5, rtol=0)


def test_a_tokenizer_that_pads_and_cuts_by_itself_changes_nothing():
    model = tiny.model("bert")
    wanted = vectors_for(model.tokenizer, model, "read", 8)
    inner: Tokenizer = model.tokenizer.backend_tokenizer
    inner.enable_padding(length=20)
    inner.enable_truncation(max_length=2)
    assert torch.equal(vectors_for(model.tokenizer, model, "read", 8), wanted)


def test_components_are_those_of_the_singular_value_decomposition():
    torch.manual_seed(0)
    vectors = torch.randn(40, 6) @ torch.diag(torch.tensor([5.0, 4.0, 3.0, 2.0, 1.0, 0.5])) + 7
    found = reduced(vectors, 3)
    left, values, _ = torch.linalg.svd(vectors - vectors.mean(dim=0), full_matrices=False)
    torch.testing.assert_close(found.abs(), (left * values)[:, :3].abs(), atol=1e-4, rtol=0)
    assert torch.equal(found, reduced(vectors, 3)) and reduced(vectors, 99).shape == (40, 6)
    turned = reduced(-vectors, 3)  # a component's sign is its own, not the data's
    torch.testing.assert_close(turned, -found, atol=1e-4, rtol=0)


def test_all_columns_keep_the_distances():
    torch.manual_seed(0)
    vectors = torch.randn(10, 4)
    torch.testing.assert_close(torch.cdist(reduced(vectors, 4), reduced(vectors, 4)), torch.cdist(vectors, vectors))


def test_evened_by_hand():
    assert evened(torch.tensor([[2.0, -2.0], [2.0, 2.0]])).tolist() == [[1, -1], [1, 1]]


@pytest.mark.parametrize("how", ["table", "read"])
def test_a_packed_source_gives_nearly_the_same(how):
    model = tiny.model("bert")
    whole = table_vectors(model, [[9]]) if how == "table" else read_vectors(model, [[9]])
    model.apply_edit(Int8())
    packed = table_vectors(model, [[9]]) if how == "table" else read_vectors(model, [[9]])
    torch.testing.assert_close(packed, whole, atol=0.1, rtol=0)
