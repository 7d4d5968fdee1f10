"""Weights as digits: words and values by hand, bits on disk as claimed, and the same numbers in an ONNX graph."""

import io

import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from safetensors.torch import save_file

from niwaki.core.errors import InputError
from niwaki.engines.expand import expand
from niwaki.models.packed.low_bit import (
    DIGITS_PER_WORD,
    LowBit,
    best_scale,
    grouped,
    levels,
    pack_words,
    refined,
    unpacked,
    valued,
)
from niwaki.models.packed.store import StoredLinear, StoredTable

BITS = {2: 1, 3: 1.6, 4: 2, 7: 32 / 11, 16: 4, 255: 8}  # of a weight, without its share of a scale
SHAPES = [(5, 1, 0), (3, 7, 3), (4, 20, 64), (2, 100, 64), (3, 33, 11), (6, 64, 0)]


def drawn(rows: int, columns: int) -> torch.Tensor:
    return torch.randn(rows, columns, generator=torch.Generator().manual_seed(rows * columns))


@pytest.mark.parametrize(
    "base, digits, word",
    [
        (2, [1, 0, 1, 1, 0, 0, 0, 1], 1 + 4 + 8 + 128),
        (3, [2, 1, 0, 2, 1], 2 + 3 + 0 + 2 * 27 + 81),
        (4, [3, 0, 2, 1], 3 + 0 + 2 * 16 + 64),
        (7, [1, 2, 0, 6, *[0] * 6, 5], 1 + 2 * 7 + 6 * 343 + 5 * 7**10),
        (16, [5, 10], 5 + 10 * 16),
        (255, [254], 254),
    ],
)
def test_a_word_by_hand(base, digits, word):
    words = pack_words(torch.tensor([digits]), base)
    assert words.tolist() == [[word]]
    back = unpacked(words, torch.ones(1, 1), base, len(digits), len(digits))
    assert back.tolist() == [[digit - (base - 1) / 2 for digit in digits]]


def test_values_by_hand():
    four = LowBit.of(torch.tensor([[-0.75, -0.25, 0.25, 0.75, 3.0, -1.0]]), 4, 4, torch.tensor([[0.5, 2.0]]))
    assert four.scale.tolist() == [[0.5, 2.0]]
    assert four().tolist() == [[-0.75, -0.25, 0.25, 0.75, 3.0, -1.0]]  # levels 0 1 2 3, then 3 1 of the second group
    assert four.words.tolist() == [[0 + 1 * 4 + 2 * 16 + 3 * 64, 3 + 1 * 4]]
    three = LowBit.of(torch.tensor([[0.9, -0.4, 0.1]]), 3, 0, torch.tensor([[1.0]]))
    assert three().tolist() == [[1.0, 0.0, 0.0]]
    two = LowBit.of(torch.tensor([[1.0, -3.0, 2.0, -2.0]]), 2)
    assert two().tolist() == [
        [2.0, -2.0, 2.0, -2.0]
    ]  # the mean of what there is without signs, twice that between levels


def test_the_scale_of_two_levels_and_of_zeros():
    assert best_scale(torch.tensor([[[1.0, -2.0, 3.0]]]), 2).tolist() == [[4.0]]
    for base in DIGITS_PER_WORD:
        zeros = LowBit.of(torch.zeros(2, 5), base)
        assert zeros().abs().max() <= 1e-6 and torch.isfinite(zeros()).all()


@pytest.mark.parametrize("base", [3, 4, 7, 16])
def test_scales_have_the_least_squared_error(base):
    parts = grouped(drawn(20, 64), 32)
    reach = parts.abs().amax(dim=-1) / ((base - 1) / 2)

    def error(scale):
        return (valued(levels(parts, scale, base), scale, base) - parts).square().sum(dim=-1)

    every = torch.stack([error(reach * share) for share in torch.linspace(0.1, 1.2, 1101)]).amin(dim=0)
    found = error(best_scale(parts, base))
    assert (
        (found <= 1.3 * every).all() and found.sum() <= 1.05 * every.sum() and found.sum() < 0.97 * error(reach).sum()
    )


def test_a_short_last_group_is_scaled_by_itself():
    assert LowBit.of(torch.tensor([[1.0, -3.0, 2.0, 2.0, 5.0]]), 2, 4).scale.tolist() == [[4.0, 10.0]]


def test_a_scale_refined_by_hand():
    parts = torch.tensor([[[1.0, 2.2, -3.0, 0.4]]])  # of seven levels with scale 1: 1 2 -3 0
    assert refined(parts, torch.tensor([[1.0]]), 7).item() == pytest.approx((1 + 4.4 + 9) / (1 + 4 + 9))
    assert refined(torch.zeros(1, 1, 4), torch.tensor([[2.0]]), 3).item() == 2.0


@pytest.mark.parametrize("base", DIGITS_PER_WORD)
@pytest.mark.parametrize("rows, columns, group", SHAPES)
def test_every_weight_gets_its_nearest_level_and_its_bits(base, rows, columns, group, tmp_path):
    weight = drawn(rows, columns)
    store = LowBit.of(weight, base, group)
    size = min(group or columns, columns)
    scale = store.scale.float().repeat_interleave(size, dim=1)[:, :columns]
    nearest = (torch.arange(base) - (base - 1) / 2)[:, None, None] * scale
    torch.testing.assert_close((store() - weight).abs(), (nearest - weight).abs().amin(dim=0), atol=1e-6, rtol=0)
    save_file(store.state_dict(), tmp_path / "file")
    words = rows * -(-columns // DIGITS_PER_WORD[base]) * (4 if base == 7 else 1)
    header = int.from_bytes((tmp_path / "file").read_bytes()[:8], "little")
    assert (tmp_path / "file").stat().st_size == 8 + header + words + 2 * rows * -(-columns // size)


@pytest.mark.parametrize("base", DIGITS_PER_WORD)
def test_bits_of_a_weight_are_those_claimed(base):
    store = LowBit(384, 1540, base, 77)  # whole words of all but one kind, and whole groups
    used = 8 * sum(value.numel() * value.element_size() for value in store.state_dict().values())
    assert used / (384 * 1540) == pytest.approx(BITS[base] + 16 / 77, rel=0.004)


@pytest.mark.parametrize("base", DIGITS_PER_WORD)
@pytest.mark.parametrize("rows, columns, group", SHAPES)
def test_rows_of_a_table_are_rows_of_the_whole(base, rows, columns, group):
    store = LowBit.of(drawn(rows, columns), base, group)
    ids = torch.tensor([[0, rows - 1], [1, 0]])
    assert torch.equal(StoredTable(store)(ids), store()[ids])
    again = store.repack(drawn(2, columns))
    assert (again.base, again.group, again.rows) == (base, store.group, 2)


def session(module, *given):
    file = io.BytesIO()
    torch.onnx.export(
        module,
        given,
        file,
        dynamo=False,
        opset_version=17,
        do_constant_folding=False,
        input_names=["x"],
        dynamic_axes={"x": {0: "n"}},
    )
    graph = onnx.load_from_string(file.getvalue())
    expand(graph.graph)
    return onnxruntime.InferenceSession(graph.SerializeToString(), providers=["CPUExecutionProvider"])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("base", DIGITS_PER_WORD)
@pytest.mark.parametrize("rows, columns, group", SHAPES)
def test_a_graph_unpacks_the_same_numbers(base, rows, columns, group):
    table = StoredTable(LowBit.of(drawn(rows, columns), base, group))
    ids = torch.tensor([[0, rows - 1, 1], [1, 0, 0]])
    (found,) = session(table, ids[:1]).run(None, {"x": ids.numpy()})
    assert np.array_equal(found, table(ids).numpy())


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("base", DIGITS_PER_WORD)
def test_a_graph_multiplies_by_them(base):
    torch.manual_seed(0)
    linear = StoredLinear(LowBit.of(drawn(40, 100), base, 32), torch.randn(40))
    x = torch.randn(9, 100)
    (found,) = session(linear, x[:2]).run(None, {"x": x.numpy()})
    step = (x.max() - x.min()) / 255  # of the activations
    bound = (
        step / 2 * linear.store().abs().sum(dim=1)
        + x.abs().sum(dim=1, keepdim=True) * linear.store().abs().amax(dim=1) / 254
    )
    assert (torch.from_numpy(found) - linear(x)).abs().le(1.1 * bound + 1e-4).all()


def test_impossible_bases_and_groups_are_rejected():
    with pytest.raises(InputError, match="low_bit: base 5 is not one of 2, 3, 4, 7, 16, 255"):
        LowBit(2, 2, 5)
    with pytest.raises(InputError, match="low_bit: group must be 0"):
        LowBit(2, 2, 4, -1)
