"""Whole layers of a decoder taken out: what is left gives what torch's own layers give without them."""

import pytest
import torch

import tiny
from niwaki.core.errors import InputError
from niwaki.models.edits.blocks import Blocks
from niwaki.models.edits.decoder import Decoder
from niwaki.models.edits.heads import Heads
from niwaki.models.edits.narrow import Narrow
from niwaki.models.edits.share import Share
from niwaki.models.module_paths import to_dense
from niwaki.models.packed.factored import FactoredTable
from niwaki.models.skeleton import CONDITIONAL_GENERATION
from seq2seq import by_torch, seq2seq_model, step_by_step

from .saved import again, numbers


def test_what_is_left_is_what_torch_gives_without_them(tmp_path):
    model = seq2seq_model("bert", decoder_layers=3)
    batch, decoder_layers = tiny.batch(model), model.anatomy.decoder.layers
    wanted = by_torch(model, batch, [decoder_layers[2], decoder_layers[0]])
    model.apply_edit(Decoder(keep=[2, 0]))
    torch.testing.assert_close(tiny.logits(model, batch), wanted, atol=2e-5, rtol=0)
    assert model.network.config.decoder_layers == 2 and not model.blueprint.edits  # a stock one again
    assert len(again(model, tmp_path).anatomy.decoder.layers) == 2 and numbers(tmp_path) == model.parameters()


def test_layers_cut_unevenly_before_keep_their_shapes(tmp_path):
    model = seq2seq_model()
    model.apply_edit(Heads(keep=[4, 4, 4, 1, 2, 3, 4]))
    model.apply_edit(Decoder(keep=[1]))
    assert [layer.heads for layer in again(model, tmp_path).anatomy.attentions] == [4, 4, 4, 3, 4]


@pytest.mark.parametrize("keep", [[2], [0, 0], [], 3])
def test_missing_layers_are_rejected(keep):
    with pytest.raises(InputError, match="decoder: "):
        seq2seq_model().apply_edit(Decoder(keep=keep))


def test_what_only_reads_has_none():
    with pytest.raises(InputError, match="decoder: this model has no decoder"):
        tiny.model("bert").apply_edit(Decoder(keep=1))


# ── other edits on both sides ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("kind", ["bert", "mpnet"])
def test_removed_decoder_blocks_equal_blocks_with_zero_output(kind, tmp_path):
    """Of three layers and two of the decoder: attentions 3 and 4 are the first one's, the feed-forward block 4 the second's."""
    model = seq2seq_model(kind)
    off, batch = model.clone(), tiny.batch(model)
    for number in (1, 3, 6):
        off.anatomy.attentions[number].part("out").register_forward_pre_hook(lambda _, args: (0 * args[0],))
    off.anatomy.blocks[4].consumer.register_forward_pre_hook(lambda _, args: (0 * args[0],))
    wanted = tiny.logits(off, batch)
    model.apply_edit(Blocks(attention=[1, 3, 6], ffn=[4]))
    torch.testing.assert_close(tiny.logits(model, batch), wanted, atol=2e-5, rtol=0)
    torch.testing.assert_close(step_by_step(model, batch), wanted.log_softmax(-1), atol=2e-5, rtol=0)
    with torch.no_grad():
        memory = model.anatomy.decoder.encode(batch.inputs)
    assert (
        len(memory) == 1 and len(model.anatomy.decoder.empty_past(1, memory[0][0])) == 1
    )  # no keys and values of what is gone
    again(model, tmp_path)


@pytest.mark.parametrize("attention", [[0, 1, 2], [3, 5], [4, 6]])
def test_an_attention_of_each_kind_stays(attention):
    with pytest.raises(InputError, match="at least one attention block of each kind must stay"):
        seq2seq_model().apply_edit(Blocks(attention=attention, ffn=[]))


@pytest.mark.parametrize("what", ["all", "attention", "ffn"])
def test_a_decoders_layers_share_among_themselves(what, tmp_path):
    model, copies = seq2seq_model(), seq2seq_model()
    model.apply_edit(Share(of=[0, 0, 2, 3, 3], what=what))
    flat = copies.anatomy.attentions
    for own, other in ((1, 0), (5, 3), (6, 4)):
        for part in flat[own].matrices():
            if what == "all" or part.startswith("ffn") == (what == "ffn"):
                flat[own].part(part).load_state_dict(flat[other].part(part).state_dict())
    batch = tiny.batch(model)
    assert torch.equal(tiny.logits(model, batch), tiny.logits(copies, batch))
    again(model, tmp_path)
    assert numbers(tmp_path) == model.parameters() < 0.9 * copies.parameters()


def test_a_decoder_does_not_share_with_an_encoder_but_may_behind_one_that_shares_already():
    with pytest.raises(InputError, match="share: layer 3 takes the matrices of layer 0, one a decoder's and one not"):
        seq2seq_model().apply_edit(Share(of=[0, 1, 2, 0, 4]))
    model = seq2seq_model("albert")
    model.apply_edit(Share(of=[0, 1, 1]))
    (own, _), (second, _) = model.anatomy.decoder.layers
    assert own.part("query") is second.part("query")
    with pytest.raises(InputError, match="share: must name one of 3 layers"):
        model.apply_edit(Share(of=[0]))


@pytest.mark.parametrize("kind, tables", [("bert", [0, 1]), ("bert", [1]), ("shared", [0])])
def test_tables_of_both_sides_become_narrow_and_a_shared_one_once(kind, tables, tmp_path):
    model = seq2seq_model(kind)
    size, decoder = model.parameters(), model.network.decoder
    model.apply_edit(Narrow(width=6, tables=tables))
    assert isinstance(model.anatomy.tokens, FactoredTable) == (0 in tables)
    assert isinstance(decoder.tokens, FactoredTable) and (model.anatomy.tokens is decoder.tokens) == (kind == "shared")
    rows = [model.anatomy.tokens.num_embeddings] * (0 in tables) + [tiny.TARGET_TOKENS] * (1 in tables)
    assert model.parameters() == size - sum(one * 32 - 6 * (one + 32) for one in rows)
    hidden = torch.randn(3, 32)
    with torch.no_grad():
        torch.testing.assert_close(
            model.anatomy.decoder.logits(hidden), hidden @ to_dense(decoder.tokens).weight.T, atol=1e-4, rtol=0
        )
    batch = tiny.batch(model)
    torch.testing.assert_close(step_by_step(model, batch), tiny.logits(model, batch).log_softmax(-1), atol=1e-4, rtol=0)
    model.save(tmp_path)
    assert numbers(tmp_path) == model.parameters()
    assert model.anatomy.head.architecture == CONDITIONAL_GENERATION
