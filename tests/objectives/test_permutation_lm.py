"""Permutation language modeling: the mask by hand, and query and content streams that equal transformers' XLNet."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.stats import chisquare

from niwaki.core.errors import InputError
from niwaki.models.forward import Batch, forward
from niwaki.models.record import FINAL
from niwaki.objectives.permutation_lm import stream_mask

from .predicting import corrupted, generator, prepared

NAME = "permutation_lm"


def test_the_mask_by_hand():
    """Three tokens, of which the last is predicted first and the first one second; then their queries in this order."""
    rank, is_query = np.array([[1, -1, 0, 0, 1]]), np.array([[False, False, False, True, True]])
    assert stream_mask(rank, is_query)[0].astype(int).tolist() == [
        [1, 1, 1, 0, 0],  # sees itself, the context and the token before it
        [0, 1, 0, 0, 0],
        [0, 1, 1, 0, 0],
        [0, 1, 0, 0, 0],  # its query sees the context alone
        [0, 1, 1, 0, 0],
    ]


def test_queries_are_mask_tokens_at_the_places_of_the_tokens_they_predict():
    model, objective, before, after = corrupted({"use": NAME, "rate": 0.4})
    ids, mask_id = before.inputs["input_ids"], objective.vocabulary.mask_id
    for row, length in enumerate(before.mask.sum(dim=1).tolist()):
        queries = after.predicted[row].nonzero()[:, 0]
        assert queries.tolist() == list(range(length, length + len(queries))) and len(queries)
        places = after.inputs["position_ids"][row, queries]
        assert len(set(places.tolist())) == len(places)
        assert torch.equal(after.targets[row, queries], ids[row, places])
        assert (after.inputs["input_ids"][row, queries] == mask_id).all()
        assert torch.equal(after.inputs["input_ids"][row, :length], ids[row, :length])
    assert int(after.mask.sum()) == int(before.mask.sum()) + int(after.predicted.sum())
    assert not model.anatomy.is_causal


def test_orders_are_uniform():
    _, objective = prepared({"use": NAME, "rate": 0.5})
    ids = torch.tensor([[2, 20, 21, 22, 23, 24, 25, 3]]).expand(6000, -1)
    given = Batch({"input_ids": ids, "attention_mask": torch.ones_like(ids)}, torch.zeros(0), torch.arange(6000))
    found = objective.batch(given, generator())
    places = found.inputs["position_ids"][:, 8:].numpy()
    assert places.shape == (6000, 3) and set(places.ravel()) == set(range(1, 7))
    for column in places.T:
        assert chisquare(np.bincount(column)[1:]).pvalue > 1e-3


@pytest.mark.parametrize("seed", [0, 1])
@torch.no_grad()
def test_both_streams_equal_those_of_xlnet(seed):
    """XLNet without relative positions (its matrix for them is 0) on the same embeddings: its query stream starts from one vector,
    so positions are 0 here, too."""
    from transformers import XLNetConfig, XLNetModel

    model, _, before, after = corrupted({"use": NAME, "rate": 0.4, "unit": "word"}, seed=seed)
    bert, config = model.network.bert, model.network.config
    bert.embeddings.position_embeddings.weight.zero_()
    after = replace(after, inputs={**after.inputs, "token_type_ids": torch.zeros_like(after.inputs["token_type_ids"])})
    xlnet = XLNetModel(
        XLNetConfig(
            d_model=config.hidden_size,
            n_layer=config.num_hidden_layers,
            n_head=config.num_attention_heads,
            d_inner=config.intermediate_size,
            ff_activation="gelu",
            dropout=0.0,
            layer_norm_eps=config.layer_norm_eps,
            vocab_size=config.vocab_size,
        )
    ).eval()
    heads, size = config.num_attention_heads, config.hidden_size // config.num_attention_heads
    for own, theirs in zip(bert.encoder.layer, xlnet.layer, strict=True):
        attention, rel = own.attention, theirs.rel_attn
        for name in ("r", "r_r_bias", "r_w_bias", "r_s_bias", "seg_embed"):
            getattr(rel, name).zero_()
        for name, matrix in zip("qkv", (attention.self.query, attention.self.key, attention.self.value), strict=True):
            getattr(rel, name).copy_(matrix.weight.T.reshape(-1, heads, size))
            matrix.bias.zero_()
        rel.o.copy_(attention.output.dense.weight.reshape(-1, heads, size))
        attention.output.dense.bias.zero_()
        rel.layer_norm.load_state_dict(attention.output.LayerNorm.state_dict())
        theirs.ff.layer_1.load_state_dict(own.intermediate.dense.state_dict())
        theirs.ff.layer_2.load_state_dict(own.output.dense.state_dict())
        theirs.ff.layer_norm.load_state_dict(own.output.LayerNorm.state_dict())
    found = forward(model.anatomy, after, frozenset({FINAL})).final[0]
    for row, length in enumerate(before.mask.sum(dim=1).tolist()):
        queries = after.predicted[row].nonzero()[:, 0]
        embedded = bert.embeddings(after.inputs["input_ids"][row, None, : length + len(queries)])
        xlnet.mask_emb.copy_(embedded[:, length : length + 1])
        mapping = torch.nn.functional.one_hot(after.inputs["position_ids"][row, queries], length)[None].float()
        rank = torch.full((length,), -1)
        rank[after.inputs["position_ids"][row, queries]] = torch.arange(len(queries))
        hidden = (rank[None, :] >= rank[:, None]) & (
            rank[None, :] >= 0
        )  # its convention: 1 is not seen; content sees itself
        wanted = xlnet(inputs_embeds=embedded[:, :length], perm_mask=hidden[None].float(), target_mapping=mapping)
        torch.testing.assert_close(found[row, queries], wanted.last_hidden_state[0], atol=1e-5, rtol=0)
        assert found.abs().max() > 0.1


def test_a_family_without_a_table_of_positions_is_rejected():
    with pytest.raises(InputError, match="needs a table of positions, which networks of family 'mpnet' do not have"):
        prepared(NAME, "mpnet")
