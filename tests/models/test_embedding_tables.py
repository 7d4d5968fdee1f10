"""Paths of tables and norms outside of layers."""

import torch

import tiny
from niwaki.models.edits.narrow import Narrow
from niwaki.models.embedding_tables import all_tables, embedding_norms, small_weights, token_tables, whole_token_tables
from seq2seq import seq2seq_model

WORDS, PLACES, TYPES = (f"bert.embeddings.{name}_embeddings" for name in ("word", "position", "token_type"))


def test_an_encoder_has_one_large_table_and_small_ones():
    anatomy = tiny.model("bert").anatomy
    assert all_tables(anatomy) == [WORDS, PLACES, TYPES]
    assert token_tables(anatomy) == whole_token_tables(anatomy) == [WORDS]
    assert embedding_norms(anatomy) == ["bert.embeddings.LayerNorm"]
    assert small_weights(anatomy) == [PLACES, TYPES, "bert.pooler.dense"]


def test_a_factored_table_is_several_matrices():
    model = tiny.model("bert")
    model.apply_edit(Narrow(width=6))
    assert whole_token_tables(model.anatomy) == [WORDS]
    assert sorted(token_tables(model.anatomy)) == [f"{WORDS}.table", f"{WORDS}.up"]


def test_a_decoder_adds_its_own():
    anatomy = seq2seq_model("bert").anatomy
    assert whole_token_tables(anatomy) == [anatomy.inputs.token_table, "decoder.tokens"]
    assert "decoder.norm" in embedding_norms(anatomy) and "decoder.positions" in small_weights(anatomy)
    assert set(whole_token_tables(anatomy)) < set(all_tables(anatomy))


def test_a_final_norm_is_among_the_norms():
    anatomy = tiny.model("llama").anatomy
    assert "model.norm" in embedding_norms(anatomy)


def test_all_paths_lead_to_modules():
    for model in (tiny.model("albert"), tiny.model("modernbert"), tiny.model("bilstm"), seq2seq_model("shared")):
        for path in [*all_tables(model.anatomy), *embedding_norms(model.anatomy), *small_weights(model.anatomy)]:
            assert isinstance(model.network.get_submodule(path), torch.nn.Module)
