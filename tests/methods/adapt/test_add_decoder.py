"""A decoder behind an encoder: its shape, its start, and what it rejects."""

import pytest
import torch

import tiny
from calibrated import CONTEXT
from niwaki.answers.text import TARGET
from niwaki.core.errors import InputError
from niwaki.methods.adapt.add_decoder import AddDecoder, as_source, max_answer_tokens
from niwaki.models.edits.heads import Heads
from niwaki.models.model import Model
from niwaki.tokenization.training import make
from seq2seq import seq2seq_model

WORDS = [" ".join(f"word{number}" for number in range(30))]
TOKENS = 34  # the words and four special tokens


@pytest.fixture
def model():
    found = tiny.model("bert")
    return Model(found.network, found.tokenizer, sibling_files={TARGET: make(WORDS, "words", 100).encode()})


def test_a_decoder_of_the_encoders_size_is_added(model):
    found = AddDecoder().prepare(model, CONTEXT)
    config = found.network.config
    assert (config.decoder_layers, config.decoder_heads, config.decoder_ffn_size) == (3, 4, 64)
    assert config.decoder_vocabulary_size == TOKENS and config.decoder_positions == 129
    assert found.anatomy.is_seq2seq and len(found.anatomy.decoder.layers) == 3
    assert found.sibling_files == model.sibling_files


def test_the_encoder_keeps_its_weights(model):
    before = model.anatomy.trunk.state_dict()
    found = AddDecoder(layers=1).prepare(model, CONTEXT).network.encoder.state_dict()
    assert found and all(torch.equal(value, before[name]) for name, value in found.items())


def test_an_image_encoder_keeps_its_weights_and_its_preprocessor():
    vision = tiny.model("vit", layers=2)
    before = vision.anatomy.trunk.state_dict()
    target = make(WORDS, "words", 100).encode()
    given = Model(vision.network, vision.tokenizer, sibling_files={TARGET: target})
    found = AddDecoder(layers=1).prepare(given, CONTEXT)
    assert found.tokenizer is vision.tokenizer and found.anatomy.family is vision.anatomy.family
    kept = found.network.encoder.state_dict()
    assert len(kept) > 20 and all(torch.equal(value, before[name]) for name, value in kept.items())


def test_the_same_seed_gives_the_same_decoder(model):
    first, second = (AddDecoder(layers=1).prepare(model, CONTEXT).network.decoder for _ in range(2))
    one, two = first.state_dict(), second.state_dict()
    assert all(torch.equal(value, two[name]) for name, value in one.items())


def test_a_fresh_encoder_has_the_given_shape(model):
    method = AddDecoder(encoder="fresh", depth=2, hidden=16, heads=2, ffn_size=24, shared=True, layers=1)
    found = method.prepare(model, CONTEXT)
    config = found.network.config
    assert (config.hidden_size, config.num_hidden_layers, config.vocab_size) == (16, 2, TOKENS)
    assert found.anatomy.tokens is found.network.decoder.tokens
    assert found.tokenizer("word3")["input_ids"] and found.tokenizer.pad_token_id == 0


def test_the_dry_run_has_the_shape_but_for_the_vocabulary(model):
    dry, found = AddDecoder(layers=2).dry_prepare(model), AddDecoder(layers=2).prepare(model, CONTEXT)
    shapes = [{name: value.shape for name, value in one.network.state_dict().items()} for one in (dry, found)]
    different = {name for name in shapes[0] if shapes[0][name] != shapes[1][name]}
    assert shapes[0].keys() == shapes[1].keys() and different <= {"decoder.tokens.weight"}


@pytest.mark.parametrize(("answer", "longest"), [(None, 128), ({"max_new_tokens": 7}, 7), ({}, 128)])
def test_the_longest_answer_is_that_of_the_answer_type(answer, longest):
    assert max_answer_tokens({"niwaki_answer": answer}) == longest


def test_the_target_tokenizer_reads_the_source_alike(model):
    from tokenizers import Tokenizer

    target = Tokenizer.from_str(model.sibling_files[TARGET].decode())
    source = as_source(target)
    assert (
        source("word3 word5", add_special_tokens=False)["input_ids"]
        == target.encode("word3 word5", add_special_tokens=False).ids
    )
    assert (source.pad_token_id, source.bos_token_id, source.eos_token_id, source.unk_token_id) == (0, 1, 2, 3)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"hidden": 64}, "hidden is for a fresh encoder; set encoder = 'fresh', or leave it out"),
        ({"depth": 2}, "depth is for a fresh encoder"),
        ({"shared": True}, "shared is for a fresh encoder"),
        ({"heads": 5}, "hidden 32 is not a multiple of heads 5"),
    ],
)
def test_settings_that_do_not_fit_are_rejected(model, settings, message):
    with pytest.raises(InputError, match=f"^add_decoder: {message}"):
        AddDecoder(**settings).dry_prepare(model)


@pytest.mark.parametrize(
    ("build", "settings", "message"),
    [
        (lambda: seq2seq_model("bert"), {}, "the model has a decoder already"),
        (lambda: tiny.model("llama"), {}, "family 'llama' reads no later tokens, so it is no encoder"),
        (lambda: tiny.model("bilstm"), {}, "a model of family 'bilstm' has no attention layers"),
        (
            lambda: tiny.model("mpnet"),
            {"layers": 0},
            "relative positions, which are undefined between source and target",
        ),
        (
            lambda: tiny.model("vit"),
            {"layers": 0},
            "reads images, whose patches and generated tokens are no one sequence",
        ),
        (lambda: tiny.model("vit"), {"encoder": "fresh", "shared": True}, "reads images, so it has no tokens to share"),
        (lambda: tiny.model("albert"), {"encoder": "fresh", "shared": True}, "projects its token embeddings"),
    ],
)
def test_models_that_cannot_take_a_decoder_are_rejected(build, settings, message):
    with pytest.raises(InputError, match=f"add_decoder: .*{message}"):
        AddDecoder(**settings).dry_prepare(build())


def test_an_edited_encoder_is_rejected(model):
    model.apply_edit(Heads(keep=[1, 2, 3]))
    with pytest.raises(InputError, match="the encoder has been edited; put 'add_decoder' first"):
        AddDecoder().dry_prepare(model)
