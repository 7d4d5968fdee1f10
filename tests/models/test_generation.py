"""Text generation in torch: search settings, decoder inputs, and steps with a beam."""

import numpy as np
import pytest
import torch

import tiny
from niwaki.answers._beam_search import NO_TOKEN, PAD, START, SearchSettings
from niwaki.models.forward import NO_LABEL, forward
from niwaki.models.generation import TorchDecodeSteps, decode_step, flatten_pairs, generate, search_of, shift_right
from seq2seq import seq2seq_model


@pytest.fixture(scope="module")
def model():
    return seq2seq_model("bert")


def test_decoder_inputs_are_targets_behind_the_start():
    targets = torch.tensor([[7, 8, 2], [9, 2, NO_LABEL]])
    assert shift_right(targets, START).tolist() == [[START, 7, 8], [START, 9, 2]]
    assert targets.tolist() == [[7, 8, 2], [9, 2, NO_LABEL]]
    missing = torch.tensor([[NO_LABEL, NO_LABEL, 2]])
    assert shift_right(missing, START).tolist() == [[START, PAD, PAD]]


def test_the_search_is_that_of_the_config(model):
    model = model.clone()
    assert search_of(model).beam == 1
    model.network.config.niwaki_answer = {"kind": "text", "beam": 3, "max_new_tokens": 9}
    assert (search_of(model).beam, search_of(model).max_new_tokens) == (3, 9)


@torch.no_grad()
def test_greedy_tokens_are_the_most_probable_ones(model):
    """Each generated token has the largest logit behind those before it, in one forward pass over all of them."""
    batch = tiny.batch(model)
    settings = SearchSettings(max_new_tokens=6, suppress_tokens=())
    found = generate(model.anatomy, read(batch), settings)
    assert found.shape == (6, 7)
    for text, (log_prob, *tokens) in enumerate(found):
        tokens = [int(token) for token in tokens if token != NO_TOKEN]
        written = torch.tensor([tokens])
        inputs = {name: value[text : text + 1] for name, value in read(batch).items()}
        inputs["decoder_input_ids"] = shift_right(written, START)
        targets = type(batch)(inputs, written, torch.tensor([0]))
        log_probs = forward(model.anatomy, targets).logits.log_softmax(-1)[0]
        assert log_probs.argmax(-1)[: len(tokens)].tolist() == tokens
        own = log_probs[torch.arange(len(tokens)), written[0]].sum().item()
        ended = len(tokens) < 6
        assert log_prob <= own + 1e-4 and (ended or log_prob == pytest.approx(own, abs=1e-4))


def read(batch):
    return {name: value for name, value in batch.inputs.items() if name != "decoder_input_ids"}


@torch.no_grad()
def test_a_wider_beam_finds_nothing_worse(model):
    batch = tiny.batch(model)
    one, four = (
        generate(model.anatomy, read(batch), SearchSettings(beam=beam, max_new_tokens=5, length_penalty=0.0))[:, 0]
        for beam in (1, 4)
    )
    assert (four >= one - 1e-5).all() and (four > one + 1e-5).any()


@torch.no_grad()
def test_steps_follow_hypotheses_and_leave_finished_texts(model):
    """A hypothesis that continues another one, of a text that stays, is scored as that one would be alone."""
    inputs = read(tiny.batch(model))
    steps = TorchDecodeSteps(model.anatomy.decoder, inputs, 2)
    every = np.arange(6)
    steps(np.full((6, 2), START), np.tile([0, 1], (6, 1)), every)
    steps(np.tile([[5, 6]], (6, 1)), np.tile([0, 1], (6, 1)), every)
    found = steps(np.array([[8, 9]]), np.array([[1, 1]]), np.array([4]))  # both continue the second
    alone = TorchDecodeSteps(model.anatomy.decoder, {name: value[4:5] for name, value in inputs.items()}, 1)
    for token in (START, 6):
        alone(np.array([[token]]), np.array([[0]]), np.array([0]))
    wanted = alone(np.array([[8]]), np.array([[0]]), np.array([0]))
    assert found.shape == (1, 2, tiny.TARGET_TOKENS)
    np.testing.assert_allclose(found[0, 0], wanted[0, 0], atol=2e-5)
    np.testing.assert_allclose(np.exp(found).sum(axis=-1), 1, atol=1e-5)


@torch.no_grad()
def test_flat_arguments_are_those_of_the_decoder(model):
    decoder, inputs = model.anatomy.decoder, read(tiny.batch(model))
    memory, mask = decoder.encode(inputs), inputs["attention_mask"]
    past = decoder.empty_past(len(mask), memory[0][0])
    given = torch.full((len(mask), 1), START), torch.tensor(0), mask
    wanted, now = decoder.decode_step(*given, memory, past)
    found, *flat = decode_step(decoder, *given, *flatten_pairs(memory), *flatten_pairs(past))
    assert torch.equal(found, wanted)
    assert all(torch.equal(one, other) for one, other in zip(flat, flatten_pairs(now), strict=True))
