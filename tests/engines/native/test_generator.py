"""Generated texts: those of the search in numpy over a decoder in torch, and the same bits in any batch, with any threads, on any memory."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from engines.native.contract import FILLS, same_bits
from engines.native.generated_texts import DrawnTexts, TextReference, generator, joined
from niwaki.core.errors import InputError
from niwaki.engines.native import library as c
from selection import kernels_of_each_kind

SEEDS, SLOW_SEEDS = (*range(6), 33), range(1000, 1200)  # 33: the length penalty decides between finished texts
BATCH_SEEDS = (0, 1, 2, 22)  # 22: narrow heads end before the padding of their rows does
NEAR = 1e-4  # scores


@pytest.fixture(params=kernels_of_each_kind(c.KERNELS))
def kernels(request):
    if c.kernels(request.param) is None:
        pytest.skip(f"this processor does not run {request.param}")
    return request.param


@cache
def floats(seed):
    """A program with float weights, what torch finds with it, its targets and their scores."""
    drawn = DrawnTexts(seed, "float")
    reference, targets = TextReference(drawn.program, drawn.tensors, 255), drawn.targets()
    return (
        drawn,
        reference.found(drawn.texts, drawn.search),
        targets,
        reference.scores(drawn.texts, targets, drawn.search),
    )


def apart(kernels, seed):
    """Whether the texts are those of torch, and how far scores are from it."""
    drawn, found, targets, scores = floats(seed)
    network = generator(drawn, kernels)
    texts = network.generate(*joined(drawn.texts), drawn.search, 1)
    scored = network.score(*joined(drawn.texts), targets, drawn.search, 2)
    far = max(np.abs(texts[:, 0] - found[:, 0]).max(), np.abs(scored - scores).max() / targets.shape[1])
    return np.array_equal(texts[:, 1:], found[:, 1:]), float(far)


def test_texts_are_those_of_the_search_in_numpy(kernels):
    verdicts = {seed: apart(kernels, seed) for seed in SEEDS}
    assert {seed: found for seed, found in verdicts.items() if not found[0] or found[1] > NEAR} == {}


@pytest.mark.slow
def test_more_texts_are_those_of_the_search_in_numpy(kernels):
    test = {seed: apart(kernels, seed) for seed in SLOW_SEEDS}
    assert {seed: found for seed, found in test.items() if not found[0] or found[1] > NEAR} == {}


def assert_contract(kernels, seed):
    drawn = DrawnTexts(seed)
    network, targets, draw = generator(drawn, kernels), drawn.targets(), np.random.default_rng(seed)
    alone = [network.generate(*joined([text]), drawn.search) for text in drawn.texts]
    scored = [
        network.score(*joined([text]), row[None], drawn.search) for text, row in zip(drawn.texts, targets, strict=True)
    ]
    assert np.isfinite(np.concatenate(alone)).all()
    for fill in FILLS.values():
        network.fill = fill
        chosen, threads = draw.integers(0, len(drawn.texts), draw.integers(1, 6)), int(draw.choice([1, 1, 1, 1, 2, 3]))
        texts = joined([drawn.texts[one] for one in chosen])
        assert same_bits(
            network.generate(*texts, drawn.search, threads), np.concatenate([alone[one] for one in chosen])
        )
        found = network.score(*texts, targets[chosen], drawn.search, threads)
        assert same_bits(found, np.concatenate([scored[one] for one in chosen]))
    assert not network.overrun


def test_a_text_has_the_same_bits_in_any_batch(kernels):
    for seed in BATCH_SEEDS:
        assert_contract(kernels, seed)


@pytest.mark.slow
def test_more_texts_have_the_same_bits_in_any_batch(kernels):
    for seed in SLOW_SEEDS:
        assert_contract(kernels, seed)


def test_rounded_weights_score_as_in_torch(kernels):
    """Where a number falls to another code, scores move; that they stay near on the whole shows that products are right."""
    far = []
    for seed in SEEDS[:5]:
        drawn = DrawnTexts(seed, "int8")
        network, targets = generator(drawn, kernels), drawn.targets()[:3]
        wanted = TextReference(drawn.program, drawn.tensors, network.kernels.last_code).scores(
            drawn.texts[:3], targets, drawn.search
        )
        found = network.score(*joined(drawn.texts[:3]), targets, drawn.search)
        far += (np.abs(found - wanted) / np.maximum(1.0, np.abs(wanted))).ravel().tolist()
    assert np.median(far) < 1e-5 and np.mean(np.array(far) > 1e-3) < 0.1 and max(far) < 0.1


def test_logits_that_are_not_finite_give_a_score_of_nan():
    drawn = DrawnTexts(3, "float")
    output = drawn.program.decoder.output[0]
    drawn.tensors[output.bias][:] = 3e38
    drawn.tensors[output.weight.weight][:] = 1e38
    network = generator(drawn, c.best() or "plain")
    assert np.isnan(network.generate(*joined(drawn.texts), drawn.search)[:, 0]).all()


def test_settings_beyond_the_decoder_are_rejected_or_cut():
    drawn = DrawnTexts(1, "float")
    network, texts = generator(drawn, c.best() or "plain"), joined(drawn.texts)
    long = replace(drawn.search, max_new_tokens=40)
    found = network.generate(*texts, long)
    assert found.shape == (len(drawn.texts), 41) and (found[:, 13:] == -1).all()  # as many as there are positions
    with pytest.raises(InputError, match="names a token that is not below"):
        network.generate(*texts, replace(drawn.search, end=drawn.tokens))
    with pytest.raises(InputError, match="a target token is not below"):
        network.score(*texts, np.full((len(drawn.texts), 2), drawn.tokens), drawn.search)
    with pytest.raises(InputError, match="a target has 13 tokens, and the model generates at most 12"):
        network.score(*texts, np.zeros((len(drawn.texts), 13)), drawn.search)
    assert network.generate(np.zeros(0), np.zeros(0), np.zeros(0), drawn.search).shape == (
        0,
        1 + drawn.search.max_new_tokens,
    )


def test_a_negative_start_is_rejected():
    drawn = DrawnTexts(1, "float")
    with pytest.raises(InputError, match="names a token"):
        generator(drawn, "plain").generate(*joined(drawn.texts), replace(drawn.search, start=-1))
