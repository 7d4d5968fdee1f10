"""The contract of the native engine over random shapes; `python benchmarks/native_shapes.py` tries a thousand of them."""

import numpy as np
import pytest
import torch

import tiny
from engines.native.contract import FARTHEST, FILLS, MAX_THREADS, Filled, call, judge, same_bits, too_far
from engines.native.reference import Reference
from engines.native.shapes import Drawn
from niwaki.engines.native import library as c
from niwaki.engines.native import program as p
from niwaki.engines.native.translate import translate
from niwaki.models.edits.heads import Heads
from niwaki.models.edits.int8 import Int8
from niwaki.models.ties import unique_tensors
from selection import rest_slow

SHAPES, HISTORIES = range(30), 8
SLOW_SHAPES = range(1000, 1300)


@pytest.fixture(params=c.KERNELS)
def kernels(request):
    if c.kernels(request.param) is None:
        pytest.skip(f"this processor does not run {request.param}")
    return request.param


def assert_contract(kernels, seeds, histories):
    verdicts = {seed: judge(seed, kernels, histories) for seed in seeds}
    faults = {seed: verdict.faults for seed, verdict in verdicts.items() if verdict.faults}
    assert not faults
    assert not too_far([one for verdict in verdicts.values() for one in verdict.apart])


def test_random_shapes(kernels):
    assert_contract(kernels, SHAPES, HISTORIES)


def test_windows_over_the_whole_text_are_plain_attention(kernels):
    """To the bit, also where keys and values are bytes."""
    compared = 0
    for seed in (3, 4, 5, 8, 11):
        drawn = Drawn(seed)
        found = []
        for window in (None, p.Window(tokens=drawn.longest - 1, first_tokens=seed % 3)):
            attentions = [layer.attention for layer in drawn.program.layers if layer.attention]
            compared += len(attentions)
            for attention in attentions:
                attention.window = window
            found.append(call(Filled(drawn.program, drawn.tensors, "here", kernels), drawn.texts, 2))
        assert same_bits(*found)
    assert compared > 10


@pytest.mark.slow
def test_more_random_shapes(kernels):
    assert_contract(kernels, SLOW_SHAPES, 50)


REPORTED = {
    "2 heads of 10": (20, 2, None),
    "3 heads of 12": (36, 3, None),
    "4 heads of 25": (100, 4, None),
    "12 heads of 26": (312, 12, None),
    "2 of 4 heads of 12": (48, 4, [[0, 3], [1, 2]]),
}


@pytest.mark.parametrize("name", rest_slow(REPORTED, ["4 heads of 25", "2 of 4 heads of 12"]))
def test_models_whose_heads_do_not_fill_vectors(kernels, name):
    """Shapes that once read what earlier calls had left in scratch memory."""
    width, heads, keep = REPORTED[name]
    model = tiny.model("bert", layers=2, width=width, heads=heads, ffn=30)
    if keep:
        model.apply_edit(Heads(keep=keep))
    model.apply_edit(Int8())
    tensors = {name: value.numpy() for name, value in unique_tensors(model.network).items()}
    program = translate(model.network, model.anatomy)
    network = Filled(program, tensors, "here", kernels)
    draw = np.random.default_rng(3)
    texts = [(draw.integers(5, 90, length), np.zeros(length, int)) for length in (1, 62, 17, 5)]
    alone = np.concatenate([call(network, [text], 1) for text in texts])
    for fill in FILLS.values():
        network.fill = fill
        for threads in (1, 3, MAX_THREADS):
            assert same_bits(call(network, texts, threads), alone)
    reference = Reference(program, tensors, network.kernels.last_code)
    wanted = np.concatenate([reference(*text) for text in texts])
    assert np.abs(alone - wanted).max() <= FARTHEST * np.abs(wanted).max()


@pytest.mark.parametrize("family", tiny.NATIVE)
def test_the_reference_computes_what_transformers_does(family):
    model = tiny.model(family)
    tensors = {name: value.numpy() for name, value in unique_tensors(model.network).items()}
    ids = np.random.default_rng(3).integers(5, 90, 30)
    found = Reference(translate(model.network, model.anatomy), tensors, 255)(ids, np.zeros_like(ids))
    with torch.no_grad():
        given = torch.from_numpy(ids)[None]
        wanted = model.network.eval()(input_ids=given, attention_mask=torch.ones_like(given)).logits.numpy()
    np.testing.assert_allclose(found, wanted, atol=1e-4)


def test_tiles_give_the_bits_of_avx512():
    found = [c.kernels(name) for name in ("amx_in_c", "avx512")]
    if None in found:
        pytest.skip("this processor does not run avx512")
    for seed in SHAPES:
        assert same_bits(*(logits(seed, name) for name in ("amx_in_c", "avx512")))


def logits(seed: int, kernels: str) -> np.ndarray:
    drawn = Drawn(seed)
    return call(Filled(drawn.program, drawn.tensors, "here", kernels), drawn.texts, 1)
