"""Rotary positions: values by hand, and the angles of transformers."""

import math

import pytest
import torch
from transformers import LlamaConfig
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding

from niwaki.core.errors import InputError
from niwaki.models.rotary import Rotation, check_rotary, frequencies, rotation_of

LLAMA3 = {
    "rope_type": "llama3",
    "rope_theta": 500000.0,
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 64,
}


def test_a_quarter_turn_by_hand():
    """At the angle π/2, (1, 2) becomes (-2, 1)."""
    turned = torch.zeros(1, 1), torch.ones(1, 1)
    halves = Rotation(2, 1.0).turn(torch.tensor([[1.0, 2.0, 3.0, 4.0]]), *turned)
    assert halves.tolist() == [[-2.0, 1.0, -4.0, 3.0]]
    turned = torch.zeros(1, 2), torch.ones(1, 2)
    neighbours = Rotation(4, 1.0, "neighbours").turn(torch.tensor([[1.0, 2.0, 3.0, 4.0]]), *turned)
    assert neighbours.tolist() == [[-2.0, 1.0, -4.0, 3.0]]
    assert Rotation(4, 1.0).turn(torch.tensor([[1.0, 2.0, 3.0, 4.0]]), *turned).tolist() == [[-3.0, -4.0, 1.0, 2.0]]


def test_products_depend_on_the_distance_alone():
    rotation, rows = Rotation(8, 100.0), torch.randn(2, 8, generator=torch.Generator().manual_seed(0))

    def product(first, second):
        query = rotation.turn(rows[:1], *rotation.angles(torch.tensor([first])))
        return float((query * rotation.turn(rows[1:], *rotation.angles(torch.tensor([second])))).sum())

    assert product(3, 7) == pytest.approx(product(20, 24), abs=1e-5)
    assert product(3, 7) != pytest.approx(product(3, 8), abs=1e-3)


def test_frequencies_by_hand():
    assert frequencies(Rotation(4, 100.0)) == pytest.approx((1.0, 0.1))
    assert frequencies(Rotation(4, 100.0, scaling=(("factor", 2.0),))) == pytest.approx((0.5, 0.05))


@pytest.mark.parametrize(
    "settings", [{"rope_type": "default", "rope_theta": 10000.0}, {"rope_type": "linear", "factor": 4.0}, LLAMA3]
)
def test_angles_equal_those_of_transformers(settings):
    settings = {"rope_theta": 10000.0, **settings}
    config = LlamaConfig(hidden_size=64, num_attention_heads=2, rope_parameters=settings, max_position_embeddings=512)
    positions = torch.arange(512)
    wanted = LlamaRotaryEmbedding(config)(torch.zeros(1), positions[None])
    found = rotation_of(config, "", 32, "halves").angles(positions)
    for one, other in zip(found, wanted, strict=True):
        torch.testing.assert_close(one, other[0, :, :16], atol=1e-6, rtol=0)
    assert found[0].shape == (512, 16) and not math.isnan(float(found[0].sum()))


@pytest.mark.parametrize("kind", ["yarn", "dynamic", "longrope"])
def test_other_scalings_are_rejected(kind):
    for config in ({"rope_scaling": {"type": kind}}, {"rope_parameters": {"full_attention": {"rope_type": kind}}}):
        with pytest.raises(
            InputError, match=f"with '{kind}' is not supported; take a model with one of: default, linear, llama3"
        ):
            check_rotary(config)
