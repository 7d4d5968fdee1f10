"""Prefixes: attention over trained keys and values, written out; every family; cut with the heads."""

import pytest
import torch

import tiny
from niwaki.core.errors import InputError
from niwaki.models.attention import attend
from niwaki.models.edits.blocks import Blocks
from niwaki.models.edits.heads import Heads
from niwaki.models.edits.prefix import Prefix
from niwaki.models.forward import forward, run_padded
from niwaki.models.model import load_folder
from niwaki.models.prefix import Prefix as KeysAndValues
from niwaki.models.prefix import prefix_of
from niwaki.models.record import HIDDEN, SCORES
from niwaki.models.skeleton import CONDITIONAL_GENERATION


def with_prefix(family="bert", tokens=5, **more):
    model = tiny.model(family, **more)
    model.apply_edit(Prefix(tokens=tokens))
    generator = torch.Generator().manual_seed(2)
    for layer in model.anatomy.layers:
        for parameter in prefix_of(layer.module).parameters():
            parameter.data = torch.randn(parameter.shape, generator=generator)
    return model


def test_attention_reads_the_prefix_besides_the_tokens():
    """Three equal scores, so that each value counts a third: (3 + 6 + 30) / 3."""
    query, key = torch.zeros(1, 1, 1, 1), torch.ones(1, 1, 2, 1)
    value = torch.tensor([3.0, 6.0]).reshape(1, 1, 2, 1)
    prefix = KeysAndValues(torch.ones(1, 1), torch.full((1, 1), 30.0))
    mixed, scores = attend(query, key, value, None, 1.0, lambda weights: weights, prefix=prefix)
    assert mixed.item() == pytest.approx(13.0) and scores.shape == (1, 1, 1, 2)
    hidden = torch.tensor([0.0, -1e4]).reshape(1, 1, 1, 2)  # the second token is padding
    mixed, _ = attend(query, key, value, hidden, 1.0, lambda weights: weights, prefix=prefix)
    assert mixed.item() == pytest.approx(16.5)


@pytest.mark.parametrize("family", tiny.FAMILIES)
@torch.no_grad()
def test_packed_and_padded_passes_agree_and_answers_differ(family, tmp_path):
    model, plain = with_prefix(family), tiny.model(family)
    batch = tiny.batch(model)
    found = forward(model.anatomy, batch).logits
    torch.testing.assert_close(run_padded(model.anatomy, batch.inputs), found, atol=1e-5, rtol=0)
    assert (found - forward(plain.anatomy, batch).logits).abs().max() > 1e-3
    model.save(tmp_path)
    assert torch.equal(forward(load_folder(tmp_path).anatomy, batch).logits, found)


@torch.no_grad()
def test_it_equals_attention_over_further_tokens():
    """One layer: keys and values of the prefix, as if they came from further tokens that nothing else reads."""
    model = with_prefix(layers=1)
    batch, layer = tiny.batch(model), model.anatomy.layers[0]
    outputs = forward(model.anatomy, batch, frozenset({HIDDEN, SCORES, "queries", "keys", "values"}))
    prefix, row = prefix_of(layer.module), 2
    real = batch.mask[row].bool()
    query, key, value = (getattr(outputs, name)[0][row, real] for name in ("queries", "keys", "values"))
    key, value = torch.cat([prefix.keys, key]), torch.cat([prefix.values, value])
    heads = [
        (query[:, place] @ key[:, place].T * layer.mixer.scale).softmax(-1) @ value[:, place]
        for place in (slice(first, first + 8) for first in range(0, 32, 8))
    ]
    attended = layer.add(outputs.hidden[0][row, real], layer.part("out")(torch.cat(heads, dim=-1)))
    torch.testing.assert_close(layer.feed(attended), outputs.hidden[1][row, real], atol=1e-5, rtol=0)
    assert outputs.scores[0].shape[-1] == batch.mask.shape[1]  # of the text alone


def test_heads_that_are_cut_lose_their_columns():
    model = with_prefix()
    before = prefix_of(model.anatomy.layers[0].module).keys
    model.apply_edit(Heads(keep=[[3], [0, 1], [2]]))
    after = prefix_of(model.anatomy.layers[0].module)
    assert torch.equal(after.keys, before[:, 24:]) and after.values.shape == (5, 8)
    assert forward(model.anatomy, tiny.batch(model)).logits.isfinite().all()


def test_removed_attention_gets_none_and_decoders_are_rejected():
    model = tiny.model("bert")
    model.apply_edit(Blocks(attention=[0], ffn=[]))
    model.apply_edit(Prefix(tokens=2))
    assert [prefix_of(layer.module) is None for layer in model.anatomy.layers] == [True, False, False]
    with pytest.raises(InputError, match="its decoder reads no prefix"):
        tiny.model("bert", head=CONDITIONAL_GENERATION).apply_edit(Prefix(tokens=2))


@pytest.mark.parametrize("family", ["bert", "roberta", "electra", "albert", "distilbert", "mpnet"])
@torch.no_grad()
def test_a_prefix_may_take_positions(family, tmp_path):
    """As if the position table began that many rows later."""
    model, later = with_prefix(family), tiny.model(family)
    found = tiny.model(family)
    found.apply_edit(Prefix(tokens=5, takes_positions=True))
    found.network.load_state_dict(model.network.state_dict())
    later.apply_edit(Prefix(tokens=5))
    later.network.load_state_dict(model.network.state_dict())
    table = later.network.get_submodule(f"{later.anatomy.family.body}.embeddings.position_embeddings").weight
    first = later.anatomy.family.inputs.skipped_positions
    table[first : len(table) - 5] = table[first + 5 :].clone()
    batch = tiny.batch(model)
    wanted = forward(later.anatomy, batch).logits
    torch.testing.assert_close(forward(found.anatomy, batch).logits, wanted, atol=1e-6, rtol=0)
    torch.testing.assert_close(run_padded(found.anatomy, batch.inputs), wanted, atol=1e-5, rtol=0)
    assert found.anatomy.max_tokens == found.network.config.niwaki_max_tokens == model.anatomy.max_tokens - 5
    found.save(tmp_path)
    assert torch.equal(run_padded(load_folder(tmp_path).anatomy, batch.inputs), run_padded(found.anatomy, batch.inputs))


def test_positions_that_there_are_not_are_rejected():
    for family, tokens in (("bert", 60), ("gpt2", 2)):
        with pytest.raises(InputError, match="cannot take positions of this model"):
            tiny.model(family).apply_edit(Prefix(tokens=tokens, takes_positions=True))
