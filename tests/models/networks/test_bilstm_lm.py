"""The backward stack of a bidirectional LSTM language model; tests of both families are in test_lstm_lm.py."""

import torch

import tiny

from .test_lstm_lm import language_model, states_by_torch


@torch.no_grad()
def test_the_backward_stack_predicts_the_next_token_from_those_behind_it():
    model = language_model("bilstm_lm")
    batch, network = tiny.batch(model), model.network
    table, bias, words = network.body.embeddings.word_embeddings, network.decoder.bias, len(model.tokenizer)
    for ids, mask, found in zip(batch.inputs["input_ids"], batch.mask, tiny.logits(model, batch), strict=True):
        count = int(mask.sum())
        forward_states, backward = (states[0] for states in states_by_torch(network, table(ids[None, :count])))
        torch.testing.assert_close(found[:count, :words], forward_states @ table.weight.T + bias, atol=1e-5, rtol=0)
        for place in range(count):
            state = backward[place + 2] if place + 2 < count else torch.zeros(32)
            torch.testing.assert_close(found[place, words:], state @ table.weight.T + bias, atol=1e-5, rtol=0)
