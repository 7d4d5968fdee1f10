"""LSTM language models against torch's own LSTM, one text at a time: logits, loss, gradients, padding, graphs, pooling."""

import random

import numpy as np
import onnxruntime
import pytest
import torch
from torch.nn import functional

import tiny
from models.networks.test_lstm import by_torch_one_way
from niwaki.models.edits.int8 import Int8
from niwaki.models.forward import forward
from niwaki.models.head import Head
from niwaki.models.model import load_folder
from niwaki.models.networks.lstm_lm import LockedDropout, WordDropout
from niwaki.objectives._factory import make_objective
from niwaki.tasks.language_modeling import LanguageModeling


def prepared(objective, family):
    """A language model whose config states how it scores texts."""
    model, task = language_model(family), LanguageModeling()
    found = make_objective(objective, task)
    found.prepare(model)
    return model, found


def language_model(family="lstm_lm", layers=2, **more):
    return tiny.model(family, layers=layers, head="MaskedLM", labels=[], **more)


def states_by_torch(network, vectors):
    """(1, tokens, embedding) through torch's own modules, by direction; the backward ones read the turned text."""
    layers, found = list(network.body.lstm), []
    depth = network.config.num_hidden_layers
    for start in range(0, len(layers), depth):
        backward = layers[start].direction == "reverse"
        states = vectors.flip(1) if backward else vectors
        for layer in layers[start : start + depth]:
            states = by_torch_one_way(layer)(states)[0]
        found.append(states.flip(1) if backward else states)
    return found


@pytest.mark.parametrize("layers", [1, 3])
@torch.no_grad()
def test_logits_are_those_of_torch_on_each_text_alone(layers):
    model = language_model(layers=layers)
    batch, table = tiny.batch(model), model.network.body.embeddings.word_embeddings
    for ids, mask, found in zip(batch.inputs["input_ids"], batch.mask, tiny.logits(model, batch), strict=True):
        count = int(mask.sum())
        (states,) = states_by_torch(model.network, table(ids[None, :count]))
        wanted = states[0] @ table.weight.T + model.network.decoder.bias
        torch.testing.assert_close(found[:count], wanted, atol=1e-5, rtol=0)


@pytest.mark.parametrize("family", ["lstm_lm", "bilstm_lm"])
def test_no_stack_sees_the_token_that_it_predicts(family):
    """A gradient shows what a logit depends on."""
    model = language_model(family)
    words, table = len(model.tokenizer), model.network.body.embeddings.word_embeddings
    ids = torch.tensor([[2, 9, 11, 7, 30, 3]])
    vectors = table(ids).detach().requires_grad_()
    states = model.network.body.layers(vectors, torch.ones_like(ids))[-1]
    logits = model.network.answer(states, ids, torch.ones_like(ids))[0, 2]  # of the token at place 3
    for direction, seen in enumerate([[True, True, True, False, False, False], [False] * 4 + [True, True]]):
        part = logits[direction * words : (direction + 1) * words]
        if len(part):
            (gradient,) = torch.autograd.grad(part.square().sum(), vectors, retain_graph=True)
            assert (gradient[0].abs().sum(dim=-1) > 0).tolist() == seen


def test_gradients_of_a_padded_batch_are_those_of_packed_sequences():
    """torch's LSTM on packed sequences of random lengths, with the same loss."""
    draw, model = random.Random(3), language_model()
    network, table = model.network, model.network.body.embeddings.word_embeddings
    lengths = [draw.randint(1, 12) for _ in range(7)]
    ids = torch.randint(5, len(model.tokenizer), (7, max(lengths)), generator=torch.Generator().manual_seed(0))
    mask = (torch.arange(max(lengths))[None] < torch.tensor(lengths)[:, None]).long()
    weights = torch.randn(int(mask.sum()), len(model.tokenizer))
    loss = (network.answer(network.states(ids, mask)[-1], ids, mask)[mask.bool()] * weights).sum()
    wanted = {"table": table.weight, "input": network.body.lstm[0].input, "bias": network.decoder.bias}
    found = dict(zip(wanted, torch.autograd.grad(loss, wanted.values()), strict=True))
    layers = [by_torch_one_way(layer) for layer in network.body.lstm]
    own = table.weight.detach().clone().requires_grad_()
    bias = network.decoder.bias.detach().clone().requires_grad_()
    packed = torch.nn.utils.rnn.pack_padded_sequence(
        functional.embedding(ids, own), torch.tensor(lengths), batch_first=True, enforce_sorted=False
    )
    for layer in layers:
        packed = layer(packed)[0]
    states, _ = torch.nn.utils.rnn.pad_packed_sequence(packed, batch_first=True)
    again = ((states @ own.T + bias)[mask.bool()] * weights).sum()
    torch.testing.assert_close(again, loss, rtol=1e-5, atol=1e-3)
    again.backward()
    gate_i, gate_o, gate_f, gate_c = found["input"][0].chunk(4)
    for one, other in (
        (own.grad, found["table"]),
        (bias.grad, found["bias"]),
        (layers[0].weight_ih_l0.grad, torch.cat([gate_i, gate_f, gate_c, gate_o])),
    ):
        torch.testing.assert_close(one, other, atol=2e-4, rtol=1e-4)


@pytest.mark.parametrize("family", ["lstm_lm", "bilstm_lm"])
@torch.no_grad()
def test_logits_of_chosen_tokens_are_those_of_all(family):
    model = language_model(family)
    batch = tiny.batch(model)
    chosen = (torch.rand(batch.mask.shape) < 0.4) & batch.mask.bool()
    some = type(batch)(batch.inputs, batch.targets, batch.rows, predicted=chosen)
    torch.testing.assert_close(forward(model.anatomy, some).logits, forward(model.anatomy, batch).logits[chosen])


@pytest.mark.parametrize("family, objective", [("lstm_lm", "causal_lm"), ("bilstm_lm", "bidirectional_lm")])
@pytest.mark.parametrize("packed", [False, True])
@torch.no_grad()
def test_a_saved_model_gives_the_same_logits_in_torch_and_onnx(family, objective, packed, tmp_path):
    model, _ = prepared(objective, family)
    if packed:
        model.apply_edit(Int8())
    tiny.with_graphs(model, tmp_path)
    again, batch = load_folder(tmp_path), tiny.batch(model)
    wanted = tiny.logits(model, batch)
    assert torch.equal(tiny.logits(again, batch), wanted)
    session = onnxruntime.InferenceSession(str(tmp_path / "model.onnx"))
    names = {given.name for given in session.get_inputs()}
    arrays = {name: value.numpy() for name, value in batch.inputs.items() if name in names}
    (found,) = session.run(["logits"], arrays)
    real = batch.mask.bool().numpy()
    tolerance = 0.05 if packed else 1e-5  # the integer product with the table rounds states too
    np.testing.assert_allclose(found[real], wanted.numpy()[real], atol=tolerance)


@pytest.mark.parametrize("family", ["lstm_lm", "bilstm_lm"])
@torch.no_grad()
def test_a_classifier_reads_the_state_that_came_last_the_maximum_and_the_mean(family):
    model = tiny.model(family, layers=2, niwaki_texts=1)
    batch, network = tiny.batch(model), model.network
    table = network.body.embeddings.word_embeddings
    for ids, mask, found in zip(batch.inputs["input_ids"], batch.mask, tiny.logits(model, batch), strict=True):
        stacks = [states[0] for states in states_by_torch(network, table(ids[None, : int(mask.sum())]))]
        ends = [stacks[0][-1], *(backward[0] for backward in stacks[1:])]
        states = torch.cat(stacks, dim=-1)
        pooled = torch.cat([*ends, states.amax(dim=0), states.mean(dim=0)])
        wanted = network.classifier(torch.relu(network.hidden[0](pooled)))
        torch.testing.assert_close(found, wanted, atol=1e-5, rtol=0)


def test_the_head_for_a_task_takes_the_trunk_of_a_language_model(tmp_path):
    model = language_model(niwaki_texts=1)
    model.save(tmp_path)
    tuned = load_folder(tmp_path, Head(["bad", "good"]))
    trunk = {name: value for name, value in model.network.state_dict().items() if name.startswith("body.")}
    found = tuned.network.state_dict()
    assert trunk and all(torch.equal(found[name], value) for name, value in trunk.items())
    assert found["hidden.0.weight"].shape == (64, 96) and found["classifier.weight"].shape == (2, 64)


def test_locked_dropout_drops_the_same_numbers_at_every_token():
    torch.manual_seed(0)
    dropout = LockedDropout(0.5)
    found = dropout(torch.ones(4, 6, 50))
    assert set(found.unique().tolist()) == {0.0, 2.0}
    assert (found == found[:, :1]).all() and not (found[0] == found[1]).all()
    assert torch.equal(dropout.eval()(torch.ones(2, 2, 2)), torch.ones(2, 2, 2))


def test_word_dropout_drops_all_places_of_a_word():
    torch.manual_seed(0)
    dropout, ids = WordDropout(0.9), torch.arange(200).repeat(2, 3)  # a rate of 0.09
    found = dropout.words(torch.ones(2, 600, 3), ids, 200)[..., 0]
    dropped = (found == 0).view(2, 3, 200)
    assert (dropped == dropped[:1, :1]).all() and 5 <= int(dropped[0, 0].sum()) <= 35
    assert found.max().item() == pytest.approx(1 / 0.91)


def test_recurrent_weights_are_dropped_while_training_alone():
    model = language_model()
    layer = model.network.body.lstm[0]
    layer.weight_dropout.p = 0.5
    model.network.train()
    torch.manual_seed(0)
    dropped = layer.weights()[1]
    share = (dropped == 0).float().mean().item()
    assert 0.3 < share < 0.7 and torch.allclose(dropped[dropped != 0], 2 * layer.recurrent[dropped != 0])
    model.network.eval()
    assert layer.weights()[1] is layer.recurrent


def test_token_vectors_begin_small():
    from niwaki.models.skeleton import build

    network = build({**tiny.config("lstm_lm", 2, 32, 4, 64, [], "MaskedLM")})
    assert 0.09 < network.body.embeddings.word_embeddings.weight.abs().max() <= 0.1
