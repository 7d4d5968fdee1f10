"""The whole network against torch, at widths and lengths that take every path of the kernels."""

import itertools

import numpy as np
import pytest
import torch

import tiny
from niwaki.engines.native import library as c
from niwaki.engines.native.network import Network
from niwaki.engines.native.translate import translate
from niwaki.models.edits.int8 import Int8
from niwaki.models.edits.replace_part import ReplacePart
from niwaki.models.forward import run_padded
from niwaki.models.ties import unique_tensors
from selection import kernels_of_each_kind

LENGTHS = np.array([62, 1, 17, 33, 62, 5])
SHAPES = [(32, 4), (64, 4), (96, 3), (60, 3), (24, 1)]  # width and heads: 8, 16, 32, 20 and 24 numbers a head
WHOLE_FROM = 64  # of attention.h


@pytest.fixture(params=kernels_of_each_kind(c.KERNELS))
def kernels(request):
    if c.kernels(request.param) is None:
        pytest.skip(f"this processor does not run {request.param}")
    return request.param


def compared(model, kernels, lengths):
    """Logits by the engine, all texts together and each alone, and by torch."""
    draw = np.random.default_rng(3)
    texts = [draw.integers(5, model.network.config.vocab_size, length) for length in lengths]
    tensors = {name: value.numpy() for name, value in unique_tensors(model.network).items()}
    network = Network(translate(model.network, model.anatomy), tensors, "here", kernels)
    flat = np.concatenate(texts)
    together = network(flat, np.zeros_like(flat), lengths)
    shared = [network_of_threads(network, flat, lengths, threads) for threads in (2, 3, 64)]
    assert all(np.array_equal(one, together) for one in shared)
    alone = np.concatenate([network(text, np.zeros_like(text), np.array([len(text)])) for text in texts])
    model.network.eval()
    with torch.no_grad():
        given = [torch.from_numpy(text)[None] for text in texts]
        wanted = torch.cat(
            [run_padded(model.anatomy, {"input_ids": ids, "attention_mask": torch.ones_like(ids)}) for ids in given]
        ).numpy()
    return together, alone, wanted


def network_of_threads(network, flat, lengths, threads):
    """Uses all threads, though there is little work."""
    network.products = 1 << 40
    return network(flat, np.zeros_like(flat), lengths, threads)


def coarser(name: str) -> float:
    """How much further apart the codes of inputs are than 8 bits have them."""
    return 255 / c.kernels(name).last_code


@pytest.mark.parametrize(("shape", "whole"), itertools.product(SHAPES, [False, True]))
@pytest.mark.parametrize("family", ["bert", pytest.param("mpnet", marks=pytest.mark.slow)])
def test_widths_and_lengths(kernels, family, shape, whole):
    model = tiny.model(family, width=shape[0], heads=shape[1], ffn=100)
    if whole:
        model.apply_edit(Int8())
    together, alone, wanted = compared(model, kernels, LENGTHS)
    np.testing.assert_array_equal(together, alone)  # to the bit, whatever the company
    np.testing.assert_allclose(together, wanted, atol=0.12 * coarser(kernels) * np.abs(wanted).max() if whole else 1e-4)


@pytest.mark.parametrize("mode", c.POOLING[:-1])  # the last one is of causal networks
@pytest.mark.parametrize(
    "settings", [{"normalize": True}, {"normalize": False, "dense": True}], ids=["matrix", "dense"]
)
def test_heads_on_pooled_tokens(kernels, mode, settings):
    model = tiny.model("bert", width=60, heads=3)
    model.apply_edit(ReplacePart(slot="head", part="pooled", settings={"mode": mode, **settings}))
    together, alone, wanted = compared(model, kernels, LENGTHS)
    np.testing.assert_array_equal(together, alone)
    np.testing.assert_allclose(together, wanted, atol=1e-4)


@pytest.mark.parametrize("family", ["bert", "mpnet"])
def test_attention_with_8_bit_keys_and_values(kernels, family, monkeypatch):
    """Texts long enough for it; nearer to torch than a text whose last token is another."""
    monkeypatch.setattr(tiny, "POSITIONS", 130)
    model = tiny.model(family, width=64, heads=2)
    model.apply_edit(Int8())
    lengths = np.repeat([WHOLE_FROM - 1, WHOLE_FROM, 100, 128], 4)  # enough that rounding is luck for none
    together, alone, wanted = compared(model, kernels, lengths)
    np.testing.assert_array_equal(together, alone)
    apart = np.sqrt(np.mean((together - wanted) ** 2))
    assert apart <= 0.04 * coarser(kernels) * np.abs(wanted).max()


@pytest.mark.parametrize("length", [64, 65, 72, 81])
def test_position_bias_beyond_the_text_does_not_change_rounding(kernels, length, monkeypatch):
    """The same at every distance, they change no share; kept behind a text's last token, they would make the steps of all coarse."""
    monkeypatch.setattr(tiny, "POSITIONS", 130)
    model = tiny.model("mpnet", layers=1, width=64, heads=4)
    with torch.no_grad():
        model.network.get_submodule(f"{model.anatomy.family.body}.{model.anatomy.family.relative.table}").weight.fill_(
            100.0
        )
    model.apply_edit(Int8())
    together, alone, wanted = compared(model, kernels, np.array([length] * 8))
    np.testing.assert_array_equal(together, alone)
    apart = np.sqrt(np.mean((together - wanted) ** 2))
    assert apart <= 0.02 * coarser(kernels) * np.abs(wanted).max()


def test_nearly_zero_neuron_is_computed(kernels):
    """Of a block pruned to one: gelu of -20 is no 0, and no number either that a step of bytes could be made of."""
    model = tiny.model("bert", layers=2, ffn=1)
    with torch.no_grad():
        model.anatomy.layers[0].part("ffn_in").bias.fill_(-20.0)
        model.anatomy.layers[0].part("ffn_in").weight.mul_(0.1)
    model.apply_edit(Int8())
    together, _, wanted = compared(model, kernels, LENGTHS)
    np.testing.assert_allclose(together, wanted, atol=0.12 * coarser(kernels) * np.abs(wanted).max())


@pytest.mark.parametrize("family", tiny.NATIVE)
def test_padding_token_inside_a_text_is_computed(kernels, family):
    """Some families give it a position of its own, and do not count it."""
    model = tiny.model(family)
    pad, other = model.network.config.pad_token_id, 30
    texts = [np.array(text) for text in ([5, other, pad, 7, 8], [pad, pad, 9, other], [9, 8, 7, pad])]
    tensors = {name: value.numpy() for name, value in unique_tensors(model.network).items()}
    network = Network(translate(model.network, model.anatomy), tensors, "here", kernels)
    flat, lengths = np.concatenate(texts), np.array([len(text) for text in texts])
    found = network(flat, np.zeros_like(flat), lengths)
    np.testing.assert_array_equal(network_of_threads(network, flat, lengths, 3), found)
    given = [torch.from_numpy(text)[None] for text in texts]
    with torch.no_grad():
        wanted = [model.network.eval()(input_ids=ids, attention_mask=torch.ones_like(ids)).logits for ids in given]
    np.testing.assert_allclose(found, torch.cat(wanted).numpy(), atol=1e-4)
