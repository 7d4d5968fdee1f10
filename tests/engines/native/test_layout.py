"""Tables that the kernels read."""

import ctypes

import numpy as np
import pytest

from niwaki.engines.native import library as c
from niwaki.engines.native import program as p
from niwaki.engines.native.layout import Layout
from niwaki.engines.native.program_parts import Parts
from niwaki.engines.native.stores import Floats

pytestmark = pytest.mark.skipif(
    c.best() is None, reason="the native engine was not built, or this processor lacks AVX2"
)


def layout(longest: int) -> Layout:
    tensors = {"table": np.arange(6, dtype=np.float32).reshape(3, 2), "row": np.ones(4, dtype=np.float32)}
    tensors |= {name: np.eye(4, dtype=np.float32) for name in ("tokens", "head")}
    norm = p.Norm(gain="row", epsilon=1e-5)
    program = p.Program(
        tokens=Floats(weight="tokens"),
        longest=longest,
        first_position=0,
        layers=[p.Layer(attended=norm, widened=norm)],
        order=[0],
        head=[[p.Matrix(weight=Floats(weight="head"))]],
    )
    return Layout(c.kernels("plain"), Parts(program, tensors, "here"))


def numbers(address: int, count: int) -> np.ndarray:
    return np.ctypeslib.as_array((ctypes.c_float * count).from_address(address)).copy()


def test_further_distances_have_the_last_row():
    reach, table = layout(5).distances(p.Relative(table="table", rows=[0, 1, 2], heads=[1]))
    assert reach == 4
    np.testing.assert_array_equal(numbers(table, 9), [1, 1, 1, 1, 3, 5, 5, 5, 5])


def test_layers_share_tables_but_not_between_sides_of_other_lengths():
    one = layout(5)
    turned = p.Rotary(frequencies=[0.5])
    first = one.turns(turned)
    np.testing.assert_allclose(numbers(first, 6), [1, 0, np.cos(0.5), np.sin(0.5), np.cos(1), np.sin(1)], rtol=1e-6)
    assert one.turns(turned) == first
    one.longest = 9  # of a decoder
    assert one.turns(turned) != first


def test_norms_that_center_have_a_shift_of_zeros():
    one = layout(5)
    assert one.norm(p.Norm(gain="row", epsilon=1e-5)).shift is None
    centered = one.norm(p.Norm(gain="row", centers=True, epsilon=1e-5), factor=0.5)
    assert not numbers(centered.shift, 4).any() and numbers(centered.gain, 4).tolist() == [0.5] * 4
