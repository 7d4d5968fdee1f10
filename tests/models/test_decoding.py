"""The decoder's layers: all tokens at once, packed, and one token after the other, against torch's own layers."""

import pytest
import torch
from torch import nn

from niwaki.models.attention import padding_bias
from niwaki.models.decoding import (
    cross_keys_and_values,
    run_attention,
    run_decoder,
    run_packed_decoder,
    run_prefix_decoder,
)
from niwaki.models.edits.blocks import Blocks
from niwaki.models.layout import Packed
from seq2seq import seq2seq_model, torch_layer

TOKENS = 5


@pytest.fixture(scope="module")
def model():
    return seq2seq_model("bert")


@pytest.fixture(scope="module")
def drawn():
    """Encoder output of two texts, 4 and 2 tokens long, and embeddings of generated tokens."""
    generator = torch.Generator().manual_seed(0)
    mask = torch.tensor([[1, 1, 1, 1], [1, 1, 0, 0]])
    return torch.randn(2, 4, 32, generator=generator), mask, torch.randn(2, TOKENS, 32, generator=generator)


def by_torch(model, memory, mask, hidden):
    later = nn.Transformer.generate_square_subsequent_mask(hidden.shape[1])
    for own, cross in model.anatomy.decoder.layers:
        hidden = torch_layer(own, cross)(hidden, memory, tgt_mask=later, memory_key_padding_mask=mask == 0)
    return hidden


@torch.no_grad()
def test_all_tokens_at_once_are_as_in_torchs_layers(model, drawn):
    memory, mask, hidden = drawn
    layers = model.anatomy.decoder.layers
    found, now = run_decoder(layers, hidden, cross_keys_and_values(layers, memory), padding_bias(mask, hidden))
    torch.testing.assert_close(found, by_torch(model, memory, mask, hidden), atol=2e-5, rtol=0)
    assert [tuple(part.shape) for pair in now for part in pair] == [(2, 4, TOKENS, 8)] * 4


@torch.no_grad()
def test_one_token_after_the_other_gives_the_same(model, drawn):
    memory, mask, hidden = drawn
    layers = model.anatomy.decoder.layers
    wanted = by_torch(model, memory, mask, hidden)
    read = cross_keys_and_values(layers, memory)
    past = model.anatomy.decoder.empty_past(2, memory)
    for place in range(TOKENS):
        last = hidden[:, place : place + 1]
        found, past = run_decoder(layers, last, read, padding_bias(mask, hidden), past)
        torch.testing.assert_close(found[:, 0], wanted[:, place], atol=2e-5, rtol=0)
    assert past[0][0].shape[2] == TOKENS


@torch.no_grad()
def test_hypotheses_of_a_text_read_it_and_their_own_past(model, drawn):
    """Two hypotheses of each text with other tokens: each as if it were alone."""
    memory, mask, hidden = drawn
    layers, decoder = model.anatomy.decoder.layers, model.anatomy.decoder
    read, padding = cross_keys_and_values(layers, memory), padding_bias(mask, hidden)
    both = torch.stack([hidden, hidden.flip(1)], dim=1)  # (texts, hypotheses, tokens, hidden)
    past = decoder.empty_past(4, memory)
    for place in range(TOKENS):
        found, past = run_decoder(layers, both[:, :, place], read, padding, past)
    for number in range(2):
        wanted = by_torch(model, memory, mask, both[:, number])[:, -1]
        torch.testing.assert_close(found[:, number], wanted, atol=2e-5, rtol=0)


@torch.no_grad()
def test_packed_rows_are_as_padded_ones(model, drawn):
    memory, mask, hidden = drawn
    layers, written = model.anatomy.decoder.layers, torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]])
    layout, record = Packed(written, causal=True), []
    read = cross_keys_and_values(layers, memory)
    found = run_packed_decoder(layers, layout.pack(hidden), layout, read, padding_bias(mask, hidden), record)
    wanted = by_torch(model, memory, mask, hidden) * written[..., None]
    torch.testing.assert_close(layout.unpack(found), wanted, atol=2e-5, rtol=0)
    assert len(record) == 2 and torch.equal(record[-1], layout.unpack(found))


@torch.no_grad()
def test_a_removed_attention_has_no_keys_and_values(drawn):
    model = seq2seq_model("bert")
    model.apply_edit(Blocks(attention=[4], ffn=[]))  # the second of the decoder's four: it reads the input
    layers = model.anatomy.decoder.layers
    assert len(cross_keys_and_values(layers, drawn[0])) == 1

    def attended():
        raise AssertionError("a removed attention was run")

    (_, cross), _ = layers
    assert cross.mixer.removed
    run_attention(cross, drawn[2], attended)


@torch.no_grad()
def test_one_stack_reads_the_input_and_its_past():
    """Layers of a prefix model: the last of some tokens, one at a time, as under a mask over input and past."""
    model = seq2seq_model("prefix bert")
    layers = [model.anatomy.layers[number] for number in model.anatomy.order]
    layer = layers[0]
    memory, mask = torch.randn(2, 4, 32), torch.tensor([[1, 1, 1, 1], [1, 1, 1, 1]])
    tokens = torch.randn(2, 3, 32)
    keys = [layer.mixer.keys_and_values(memory)]
    past = [(memory.new_zeros(2, 4, 0, 8),) * 2]
    for place in range(3):
        found, past = run_prefix_decoder([layer], tokens[:, place : place + 1], keys, padding_bias(mask, memory), past)
    whole = torch.cat([memory, tokens], dim=1)
    layout = Packed(torch.ones(2, 7, dtype=torch.long))
    wanted = layout.unpack(layer.run(layout.pack(whole), layout, True, {})[0])[:, -1:]
    torch.testing.assert_close(found, wanted, atol=2e-5, rtol=0)
    assert past[0][0].shape[2] == 3
