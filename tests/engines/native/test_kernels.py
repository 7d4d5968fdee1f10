"""Each kernel of each kind of processor against numpy, at widths that do and do not fill its vectors."""

import ctypes

import numpy as np
import pytest
from scipy.special import erf

from niwaki.engines.native import library as c

WIDTHS = (1, 7, 8, 15, 16, 17, 31, 48, 100, 384)


def runnable() -> list[str]:
    return [name for name in c.KERNELS if c.kernels(name)]


@pytest.fixture(params=c.KERNELS)
def kernels(request):
    found = c.kernels(request.param)
    if found is None:
        pytest.skip(f"this processor does not run {request.param}")
    return found


@pytest.fixture
def draw():
    return np.random.default_rng(7)


def rows_of(values: np.ndarray) -> np.ndarray:
    """As the kernels want them: (count, padded width), zeros behind."""
    count, width = values.shape
    padded = c.aligned(count * c.padded(width), np.float32).reshape(count, -1)
    padded[:, :width] = values
    return padded


def address(array: np.ndarray) -> int:
    return array.ctypes.data


ACTIVATIONS = {
    "none": lambda x: x,
    "gelu": lambda x: x * 0.5 * (1 + erf(x / np.sqrt(2))),
    "gelu_tanh": lambda x: 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))),
    "relu": lambda x: np.maximum(x, 0),
    "tanh": np.tanh,
    "silu": lambda x: x / (1 + np.exp(-x)),
}


@pytest.mark.parametrize("name", c.ACTIVATIONS)
def test_activations_match_numpy(kernels, name):
    x = np.concatenate([np.linspace(-12, 12, 4096), [0.0, -0.0, 1e-8, -1e-8, 80, -80, 1e4, -1e4]]).astype(np.float32)
    found = rows_of(x[None])
    kernels.activate(address(found), found.size, c.ACTIVATIONS.index(name))
    np.testing.assert_allclose(found[0, : len(x)], ACTIVATIONS[name](x.astype(np.float64)), atol=2e-6, rtol=2e-6)


@pytest.mark.parametrize("name", c.ACTIVATIONS)
def test_nan_stays_nan(kernels, name):
    found = rows_of(np.array([[1.0, np.nan, -1.0]]))
    kernels.activate(address(found), found.size, c.ACTIVATIONS.index(name))
    assert np.isnan(found[0, 1]) and np.isfinite(found[0, [0, 2]]).all()


@pytest.mark.parametrize("width", WIDTHS)
def test_norms_match_numpy(kernels, draw, width):
    x, gain, shift = draw.normal(3, 5, (5, width)), draw.normal(size=width), draw.normal(size=width)
    rows, pinned = rows_of(x), [rows_of(part[None]) for part in (gain, shift)]
    kernels.normalize(address(rows), 5, c.Norm(*map(address, pinned), 1e-5, width))
    seen = x.astype(np.float32).astype(np.float64)
    off = seen - seen.mean(axis=1, keepdims=True)
    wanted = off / np.sqrt((off**2).mean(axis=1, keepdims=True) + 1e-5) * gain + shift
    np.testing.assert_allclose(rows[:, :width], wanted, atol=2e-4)
    assert not rows[:, width:].any()


@pytest.mark.parametrize("width", WIDTHS)
def test_softmax_matches_numpy(kernels, draw, width):
    x = draw.normal(0, 30, (6, width)).astype(np.float32)
    rows = rows_of(x)
    kernels.softmax(address(rows), 6, width, rows.shape[1])
    high = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    np.testing.assert_allclose(rows[:, :width], high / high.sum(axis=1, keepdims=True), atol=1e-6)
    assert not rows[
        :, width : -(-width // kernels.lanes) * kernels.lanes
    ].any()  # to the last bit: what lies there is read


@pytest.mark.parametrize("width", WIDTHS)
def test_softmax_of_nan_is_nan(kernels, draw, width):
    rows = rows_of(draw.normal(0, 30, (2, width)))
    rows[1, width // 2] = np.nan
    kernels.softmax(address(rows), 2, width, rows.shape[1])
    assert np.isfinite(rows[0]).all() and np.isnan(rows[1, :width]).all()


def numbers(kernels, codes):
    """Codes as numbers: some kernels store them less 128, as bytes with a sign."""
    return codes.view(np.int8).astype(np.int32) + kernels.less if kernels.less else codes


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("low", [-3.0, 0.5, 0.0])
def test_rows_are_rounded_to_within_half_a_step(kernels, draw, width, low):
    x = np.vstack([draw.uniform(low, 4, (4, width)), np.zeros((1, width))]).astype(np.float32)
    rows = rows_of(x)
    codes = c.aligned(rows.size, np.uint8).reshape(rows.shape)
    step, zero = c.aligned(c.PAD, np.float32), c.aligned(c.PAD, np.float32)
    kernels.round_rows(address(rows), 5, width, address(codes), address(step), address(zero))
    codes = numbers(kernels, codes)
    assert codes.max() <= kernels.last_code
    back = step[:5, None] * (codes.astype(np.float64) - zero[:5, None])
    span = np.maximum(x.max(axis=1), 0) - np.minimum(x.min(axis=1), 0)
    assert (np.abs(back[:, :width] - x) <= span[:, None] / kernels.last_code * 0.502 + 1e-7).all()
    assert not back[:, width:].any() and not back[4].any()  # 0 is met exactly


@pytest.mark.parametrize("size", [1e-40, 1e-37, 1e-31, 1e-29])
def test_tiny_rows_are_rounded_without_overflow(kernels, size):
    """A step that is subnormal has no inverse, and 0 times infinity is NaN; a row of NaN stays one."""
    rows = rows_of(np.array([[size, 0, -size], [0, 0, -size], [np.nan] * 3]))
    rows[2] = np.nan
    codes = c.aligned(rows.size, np.uint8).reshape(rows.shape)
    step, zero = c.aligned(c.PAD, np.float32), c.aligned(c.PAD, np.float32)
    kernels.round_rows(address(rows), 3, 3, address(codes), address(step), address(zero))
    codes = numbers(kernels, codes)
    assert (np.abs(step[:2, None] * (codes[:2] - zero[:2, None]) - rows[:2]) <= max(size / 100, 1e-30)).all()
    assert np.isnan(step[2])


SIZES = [
    (1, 1, 1),
    (1, 16, 4),
    (5, 3, 7),
    (6, 64, 64),
    (7, 65, 33),
    (13, 100, 384),
    (49, 31, 20),
    (3, 129, 17),
    (70, 33, 208),
]


def matrix_of(kernels, weight, scale=None, bias=None):
    """A matrix in panels, and what it points to."""
    whole = scale is not None
    weight = np.ascontiguousarray(weight)
    panels = c.aligned(kernels.panel_bytes(*weight.shape, whole), np.uint8)
    kernels.pack(address(weight), *weight.shape, whole, address(panels))
    sums = weight.sum(axis=1, dtype=np.int64) * scale if whole else None
    pinned = [panels, *(None if part is None else rows_of(np.asarray(part)[None]) for part in (scale, sums, bias))]
    return c.Matrix(
        weight.shape[1], weight.shape[0], int(whole), *(None if part is None else address(part) for part in pinned)
    ), pinned


def product_of(kernels, x, matrix, outputs, plus=None, activation=0):
    rows, to = rows_of(x), rows_of(np.full((len(x), outputs), np.nan))
    scratch = c.aligned(rows.size + 64 * len(x) + 4096, np.uint8)
    added = None if plus is None else rows_of(plus)
    kernels.product(
        address(rows),
        len(x),
        matrix,
        None if added is None else address(added),
        activation,
        address(to),
        address(scratch),
    )
    return to


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("extras", [False, True], ids=["bare", "bias and rest"])
def test_float_products_match_numpy(kernels, draw, size, extras):
    count, outputs, inputs = size
    x, weight = draw.normal(size=(count, inputs)), draw.normal(size=(outputs, inputs)).astype(np.float32)
    bias, plus = (draw.normal(size=outputs), draw.normal(size=(count, outputs))) if extras else (None, None)
    matrix, _pinned = matrix_of(kernels, weight, bias=bias)
    found = product_of(kernels, x, matrix, outputs, plus)
    wanted = x @ weight.T + (bias + plus if extras else 0)
    np.testing.assert_allclose(found[:, :outputs], wanted, atol=1e-4)
    assert not found[:, outputs:].any()


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("extras", [False, True], ids=["bare", "bias and rest"])
def test_integer_products_are_exact_for_integer_inputs(kernels, draw, size, extras):
    """Inputs that are whole numbers, as many as there are codes, both ends among them, have a step of 1: so every sum is a whole number."""
    count, outputs, inputs = size
    low = -(kernels.last_code + 1) // 2
    high = low + kernels.last_code
    x = draw.integers(low, high + 1, (count, inputs)).astype(np.float32)
    x[:, 0], x[:, -1] = (low, high) if inputs > 1 else (high, high)
    weight = draw.choice([-127, -1, 0, 1, 127], (outputs, inputs)).astype(
        np.int8
    )  # the worst for sums of 16 bits among them
    scale = 2.0 ** draw.integers(-3, 3, outputs)
    bias, plus = (draw.integers(-9, 9, outputs), draw.integers(-9, 9, (count, outputs))) if extras else (None, None)
    matrix, _pinned = matrix_of(kernels, weight, scale, bias)
    found = product_of(kernels, x, matrix, outputs, plus)
    wanted = (x.astype(np.int64) @ weight.T.astype(np.int64)) * scale + (bias + plus if extras else 0)
    np.testing.assert_allclose(found[:, :outputs], wanted, rtol=1e-6, atol=2e-2 if inputs == 1 else 1e-3)
    assert not found[:, outputs:].any()


def test_kernels_with_the_same_code_range_give_the_same_sums(draw):
    x, weight, scale = draw.normal(size=(9, 200)), draw.integers(-127, 128, (70, 200)).astype(np.int8), np.ones(70)
    found = []
    for kernels in map(c.kernels, runnable()):
        if kernels.last_code == c.kernels("plain").last_code:  # wherever they begin
            matrix, _pinned = matrix_of(kernels, weight, scale)
            found.append(product_of(kernels, x, matrix, 70)[:, :70])
    for other in found[1:]:
        np.testing.assert_allclose(other, found[0], rtol=1e-5, atol=2e-3)


@pytest.fixture
def tiled():
    """Kernels with tiles in C, and those whose sums they must have."""
    found = c.kernels("amx_in_c"), c.kernels("avx512")
    if None in found:
        pytest.skip("this processor does not run avx512")
    return found


@pytest.mark.parametrize("count", [1, 15, 16, 17, 31, 32, 33, 48, 49, 70])
@pytest.mark.parametrize(("outputs", "inputs"), [(16, 64), (33, 80), (48, 128), (17, 208), (64, 400)])
def test_amx_tiles_give_the_same_bits_as_avx512(tiled, draw, count, outputs, inputs):
    """Rows, panels and inputs that do and do not fill their tiles."""
    x, weight = draw.normal(size=(count, inputs)), draw.integers(-127, 128, (outputs, inputs)).astype(np.int8)
    scale, bias, plus = draw.normal(size=outputs), draw.normal(size=outputs), draw.normal(size=(count, outputs))
    matrices = [matrix_of(kernels, weight, scale, bias) for kernels in tiled]
    found = [product_of(one, x, matrix, outputs, plus) for one, (matrix, _) in zip(tiled, matrices, strict=True)]
    np.testing.assert_array_equal(*found)


def test_disagreeing_amx_tiles_are_not_used(tiled):
    """As the library asks before it gives out the kernels with the processor's own tiles."""
    agree = c.library().niwaki_agree
    assert agree(ctypes.byref(tiled[0]), ctypes.byref(tiled[1]))
    wrong = c.Kernels()
    ctypes.memmove(ctypes.byref(wrong), ctypes.byref(tiled[0]), ctypes.sizeof(wrong))

    def off_by_a_bit(rows, count, by, plus, activation, to, scratch):
        tiled[0].product(rows, count, by, plus, activation, to, scratch)
        last = ctypes.cast(to, ctypes.POINTER(ctypes.c_int32))
        last[count * c.padded(by.contents.outputs) - 1] ^= 1

    wrong.product = type(wrong.product)(off_by_a_bit)
    assert not agree(ctypes.byref(wrong), ctypes.byref(tiled[1]))
