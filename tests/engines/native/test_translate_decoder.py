"""Programs of encoder–decoders: what they find is what torch finds, and which networks are rejected."""

import numpy as np
import pytest
import torch

import stock
from engines.native.test_translate import names_in
from niwaki.answers._beam_search import SearchSettings
from niwaki.core.errors import InputError
from niwaki.engines.native.generator import Generator
from niwaki.engines.native.library import best
from niwaki.engines.native.translate import translate
from niwaki.models.edits.int8 import Int8
from niwaki.models.generation import generate
from niwaki.models.model import load_folder
from niwaki.models.pairs import reads_token_types
from niwaki.models.ties import unique_tensors
from seq2seq import seq2seq_model

needs_kernels = pytest.mark.skipif(
    best() is None, reason="the native engine was not built, or this processor lacks AVX2"
)
LENGTHS = [3, 11, 1, 20]


def published(family, folder):
    return load_folder(stock.folder(family, folder, noise=0.4))


def generator(model):
    tensors = {name: value.numpy() for name, value in unique_tensors(model.network).items()}
    return Generator(translate(model.network, model.anatomy), tensors, "here")


def both(model, how):
    """What torch and the kernels find."""
    draw = np.random.default_rng(5)
    texts = [draw.integers(4, model.anatomy.tokens.num_embeddings, length) for length in LENGTHS]
    ids = np.zeros((len(texts), max(LENGTHS)), dtype=np.int64)
    mask = np.arange(max(LENGTHS))[None] < np.array(LENGTHS)[:, None]
    ids[mask] = np.concatenate(texts)
    inputs = {"input_ids": torch.from_numpy(ids), "attention_mask": torch.from_numpy(mask.astype(np.int64))}
    if reads_token_types(model.anatomy):
        inputs["token_type_ids"] = torch.zeros_like(inputs["input_ids"])
    flat = np.concatenate(texts)
    return generate(model.anatomy, inputs, how), generator(model).generate(flat, flat * 0, np.array(LENGTHS), how)


@needs_kernels
@pytest.mark.parametrize(
    "kind", ["marian", "bart", "mbart", "t5", "mt5", "flan_t5", "bert", "roberta", "mpnet", "shared", "sinusoidal"]
)
def test_texts_are_those_of_torch(kind, tmp_path):
    model = published(kind, tmp_path) if kind in stock.CLASSES else seq2seq_model(kind)
    wanted, found = both(model, SearchSettings(beam=3, max_new_tokens=10, suppress_tokens=(3,)))
    assert np.array_equal(found[:, 1:], wanted[:, 1:])
    np.testing.assert_allclose(found[:, 0], wanted[:, 0], atol=1e-4)


def test_tensors_are_named_as_they_are_stored(tmp_path):
    model = published("marian", tmp_path)
    model.apply_edit(Int8(small_weights=True))
    found = translate(model.network, model.anatomy)
    assert names_in(found.model_dump()) <= set(unique_tensors(model.network))
    assert found.decoder.output[0].weight == found.decoder.tokens == found.tokens
    assert found.decoder.output[0].bias == "final_logits_bias" and found.token_scale == pytest.approx(32**0.5)
    assert found.embedded is None and found.head == [] and not found.decoder.tokens.transposed


def test_positions_before_the_first_are_skipped(tmp_path):
    found = translate(*(lambda model: (model.network, model.anatomy))(published("bart", tmp_path)))
    assert (found.skipped_positions, found.first_position, found.decoder.skipped_positions) == (2, 0, 2)


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("prefix bert", "decoder 'prefix' has no translation"),
    ],
)
def test_networks_without_a_translation_are_rejected(kind, message, tmp_path):
    model = published(kind, tmp_path) if kind in stock.CLASSES else seq2seq_model(kind)
    with pytest.raises(InputError, match=message):
        translate(model.network, model.anatomy)
