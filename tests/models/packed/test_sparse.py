"""Sparse matrices: bits and values, size on disk, training, rejected files."""

import copy

import pytest
import torch
from safetensors.torch import load_file, save_file

import tiny
from niwaki.core.errors import InputError
from niwaki.models.edits.low_bit import LowBit as DigitsEdit
from niwaki.models.edits.sparse import Sparse as SparseEdit
from niwaki.models.model import load_folder
from niwaki.models.packed.sparse import GROUP, Sparse
from niwaki.models.packed.store import StoredLinear
from niwaki.models.slicing import cut_linear
from niwaki.models.stock import WEIGHTS

SMALL = torch.tensor([[0.0, 1.0, 0.0], [2.0, 0.0, -3.0], [0.0, 0.0, 4.0]])


def drawn(rows: int, columns: int, sparsity: float) -> torch.Tensor:
    generator = torch.Generator().manual_seed(0)
    gone = torch.randperm(rows * columns, generator=generator)[: round(sparsity * rows * columns)]
    return torch.randn(rows * columns, generator=generator).index_fill(0, gone, 0.0).view(rows, columns)


def test_bits_and_values_by_hand():
    store = Sparse.of(SMALL)
    assert store.bits.tolist() == [0b00101010, 0b1]  # places 1, 3, 5 and 8; the first bit counts ones
    assert store.nonzeros.values.tolist() == [[1, 2, -3, 4]]
    assert torch.equal(store(), SMALL) and torch.equal(store.some(torch.tensor([2, 0])), SMALL[[2, 0]])


@pytest.mark.parametrize("sparsity, share", [(0.5, 0.5 + 1 / 32), (0.9, 0.1 + 1 / 32)])
def test_bytes_are_those_of_the_weights_that_are_there_and_a_bit_each(tmp_path, sparsity, share):
    weight = drawn(400, 100, sparsity)
    store = Sparse.of(weight)
    save_file(store.state_dict(), tmp_path / "store")
    assert store.bits.nbytes + store.nonzeros.values.nbytes == round(share * 4 * 40_000)
    assert (tmp_path / "store").stat().st_size < share * 4 * 40_000 + 300  # its header
    assert torch.equal(store(), weight)


@pytest.mark.parametrize("base", [0, 16, 255])
def test_a_matrix_of_nothing_but_zeros(base):
    store = Sparse.of(torch.zeros(3, 5), base)
    assert store.nonzeros.columns == (GROUP if base else 1) and not store.bits.any()
    assert torch.equal(store(), torch.zeros(3, 5)) and store.fault() is None


@pytest.mark.parametrize("base, error", [(16, 0.12), (255, 0.01)])
def test_values_may_be_digits(base, error):
    weight = drawn(30, 40, 0.7)
    store = Sparse.of(weight, base)
    assert store.base == base and store.integers
    assert store.nonzeros.columns == 384 and store.nonzeros.scale.shape == (1, 6)  # 360 weights in groups of 64
    assert ((store() != 0) <= (weight != 0)).all()
    assert (store() - weight).abs().mean() < error * weight.abs().mean()


def test_values_are_trained_and_zeros_stay():
    linear = StoredLinear(Sparse.of(SMALL), torch.zeros(3))
    optimizer = torch.optim.SGD(linear.parameters(), lr=0.5)
    linear(torch.tensor([[1.0, 2.0, 3.0]])).sum().backward()
    assert linear.store.nonzeros.values.grad.tolist() == [[2, 1, 3, 3]]  # the inputs that they multiply
    optimizer.step()
    assert linear.store().tolist() == [[0, 0, 0], [1.5, 0, -4.5], [0, 0, 2.5]]


def test_cutting_keeps_the_form():
    linear = StoredLinear(Sparse.of(SMALL), torch.tensor([1.0, 2.0, 3.0]))
    cut = cut_linear(linear, outputs=[2, 1], inputs=[0, 2])
    assert isinstance(cut.store, Sparse) and cut.store.bits.tolist() == [0b1110]
    assert cut.store().tolist() == [[0, 4], [2, -3]] and cut.bias.tolist() == [3, 2]


def test_places_are_worked_out_anew_when_bits_are_put_in():
    store, other = Sparse.of(SMALL), Sparse.of(SMALL.flip(0))
    store()
    store.load_state_dict(other.state_dict())
    assert torch.equal(store(), SMALL.flip(0))
    assert torch.equal(copy.deepcopy(store)(), SMALL.flip(0))


@pytest.mark.parametrize("base", [0, 16])
@pytest.mark.parametrize("bits", [0, 255], ids=["too few", "too many"])
def test_bits_that_do_not_match_the_values_are_rejected(tmp_path, base, bits):
    model = tiny.model("bert", layers=1, width=16, ffn=128)
    model.apply_edit(
        SparseEdit().with_masks(
            {path: drawn(128, 16, 0.5) != 0 for path in model.anatomy.matrices() if "intermediate" in path}
        )
    )
    if base:
        model.apply_edit(DigitsEdit(base=base, table=False))
    model.save(tmp_path)
    state = load_file(tmp_path / WEIGHTS)
    name = "bert.encoder.layer.0.intermediate.dense.store.bits"
    state[name] = torch.full_like(state[name], bits)
    save_file(state, tmp_path / WEIGHTS, metadata={"format": "pt"})
    with pytest.raises(
        InputError, match=r"dense\.store': \d+ bits are set and 1024 values are stored; the file is damaged"
    ) as caught:
        load_folder(tmp_path)
    assert len(caught.value.faults) == 1 and "\n" not in str(caught.value)


def test_more_values_than_weights_are_rejected(tmp_path):
    model = tiny.model("bert", layers=1, width=16, ffn=128)
    model.apply_edit(SparseEdit())
    model.save(tmp_path)
    state = load_file(tmp_path / WEIGHTS)
    name = "bert.encoder.layer.0.attention.self.query.store.nonzeros.values"
    state[name] = torch.zeros(1, 5000)
    save_file(state, tmp_path / WEIGHTS, metadata={"format": "pt"})
    with pytest.raises(InputError, match=r"nonzeros\.values' is"):
        load_folder(tmp_path)
