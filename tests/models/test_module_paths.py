"""Where matrices lie, and others in their place; one that lies in several places is made anew once."""

import pytest
import torch
from torch import nn

from niwaki.core.errors import InputError
from niwaki.models.edit import check_shared_alike
from niwaki.models.module_paths import (
    SharedReplacement,
    leaf_paths,
    packed_like,
    replace_modules,
    to_dense,
    unique_modules,
)
from niwaki.models.packed.factored import Factored, linear_of
from niwaki.models.packed.int8 import Int8Linear
from niwaki.models.packed.low_bit import LowBit
from niwaki.models.packed.sparse import Sparse
from niwaki.models.packed.store import StoredLinear


def network() -> nn.Module:
    one = nn.Linear(2, 2)
    deep = Factored(Factored.of(torch.ones(2, 1), torch.ones(1, 3), None), nn.Linear(2, 4))
    return nn.ModuleDict({"a": one, "b": one, "c": deep, "d": nn.Linear(2, 2)})


def test_leaves_of_one_and_of_one_in_one():
    assert list(leaf_paths(network(), "a")) == ["a"]
    assert list(leaf_paths(network(), "c")) == ["c.first.first", "c.first.second", "c.second"]


def test_exchange_keeps_shared_what_was_shared():
    found, built = network(), []

    def make(old: nn.Module) -> nn.Module:
        built.append(old)
        return Int8Linear.of(old)

    replace_modules(found, ["a", "b", "d"], make)
    assert found["a"] is found["b"] is not found["d"] and len(built) == 2
    assert all(isinstance(found[name], Int8Linear) for name in "abd")


def test_a_replacement_is_not_replaced_again():
    once, one = SharedReplacement(), nn.Linear(2, 2)
    new = once(one, Int8Linear.of)
    assert once(new, Int8Linear.of) is new is once(one, Int8Linear.of)


def test_plain_multiplies_from_inside_out():
    built = Factored(
        Factored.of(torch.tensor([[2.0], [1.0]]), torch.tensor([[1.0, 3.0]]), None),
        linear_of(torch.tensor([[1.0, -1.0]]), torch.tensor([7.0])),
    )
    assert to_dense(built).weight.tolist() == [[1.0, 3.0]]  # [2, 6] - [1, 3]
    assert to_dense(built).bias.tolist() == [7.0]


def test_a_new_matrix_is_stored_as_the_old_one():
    new = nn.Linear(4, 2)
    assert packed_like(nn.Linear(4, 2), new) is new
    assert isinstance(packed_like(Int8Linear(4, 2), new), Int8Linear)
    assert isinstance(packed_like(Factored(nn.Linear(4, 1), Int8Linear(1, 2)), new), Int8Linear)
    weight = new.weight.detach()
    digits = packed_like(StoredLinear(LowBit.of(weight, 3), new.bias), new)
    assert digits.store.base == 3
    assert packed_like(StoredLinear(Sparse.of(weight), new.bias), new) is new
    packed = packed_like(StoredLinear(Sparse.of(weight, 16), new.bias), new)
    assert isinstance(packed.store, LowBit) and packed.store.base == 16


def test_each_module_is_named_once_by_its_first_path():
    assert list(unique_modules(network(), ["b", "a", "d"])) == ["b", "d"]


def test_what_lies_in_two_places_is_treated_alike():
    built = network()
    places = [(name, built.get_submodule(name)) for name in ("a", "d", "b")]
    check_shared_alike("x", [(name, module, 1 if name != "d" else 2) for name, module in places])
    with pytest.raises(InputError, match="x: a and b share their matrices, so the same must be done to both"):
        check_shared_alike("x", [(name, module, 1 if name == "a" else 2) for name, module in places])
