"""Matrices in two: the product by hand, packed ones stay packed, cut later as if they were whole."""

import pytest
import torch

import tiny
from niwaki.core.errors import InputError
from niwaki.models.edits.factored import Factored
from niwaki.models.edits.ffn import Ffn
from niwaki.models.edits.heads import Heads
from niwaki.models.edits.hidden_size import HiddenSize
from niwaki.models.edits.int8 import Int8
from niwaki.models.edits.low_bit import LowBit
from niwaki.models.edits.share import Share
from niwaki.models.edits.sparse import Sparse
from niwaki.models.module_paths import to_dense
from niwaki.models.packed.factored import Factored as PackedWeight
from niwaki.models.packed.int8 import Int8Linear
from niwaki.models.packed.low_bit import LowBit as DigitsStore
from niwaki.models.packed.store import StoredLinear

from .saved import again, in_engine, numbers


def ranks(model, rank):
    return [rank] * len(list(model.anatomy.whole_matrices()))


@pytest.mark.parametrize("family", tiny.FAMILIES)
def test_full_rank_changes_no_answer_and_a_lower_one_is_smaller(family, tmp_path):
    model = tiny.model(family)
    before, size = tiny.logits(model, tiny.batch(model)), model.parameters()
    whole = model.clone()
    whole.apply_edit(
        Factored(
            ranks=[
                min(m.in_features, m.out_features)
                for m in map(whole.network.get_submodule, whole.anatomy.whole_matrices())
            ]
        )
    )
    torch.testing.assert_close(tiny.logits(whole, tiny.batch(model)), before, atol=2e-5, rtol=0)
    model.apply_edit(Factored(ranks=ranks(model, 4)))
    again(model, tmp_path)
    assert numbers(tmp_path) == model.parameters() < size
    if family in ("bert", "mpnet"):
        assert in_engine(model, tmp_path) < 1e-4


@pytest.mark.parametrize("family", ["averaging", "bilstm", "cnn"])
def test_networks_without_attention_have_matrices_too(family, tmp_path):
    model = tiny.model(family)
    named = [
        4 if hasattr(model.network.get_submodule(path), "in_features") else 0 for path in model.anatomy.whole_matrices()
    ]
    model.apply_edit(Factored(ranks=named))
    assert again(model, tmp_path).parameters() < tiny.model(family).parameters()


def test_given_factors_are_taken_and_a_rank_of_0_leaves_a_matrix_whole():
    model = tiny.model("bert")
    path = next(model.anatomy.whole_matrices())
    bias = model.network.get_submodule(path).bias.clone()
    left, right = torch.randn(32, 2), torch.randn(2, 32)
    model.apply_edit(Factored(ranks=[2, *ranks(model, 0)[1:]]).with_factors({path: (left, right)}))
    factored = to_dense(model.network.get_submodule(path))
    torch.testing.assert_close(factored.weight, left @ right)
    assert torch.equal(factored.bias, bias)
    assert sum(isinstance(module, PackedWeight) for module in model.network.modules()) == 1


CUTS = [Heads(keep=[[1, 3], [0], [0, 1, 2]]), Ffn(keep=[[5, 3], 7, 60]), HiddenSize(keep=[*range(3, 20), 31])]


@pytest.mark.parametrize("family", ["bert", "mpnet", "distilbert"])
def test_cut_after_factoring_is_factored_after_cutting(family, tmp_path):
    """With the full rank nothing is lost, so the order must not matter."""
    one, two = tiny.model(family), tiny.model(family)
    one.apply_edit(Factored(ranks=ranks(one, 32)))
    for cut in CUTS:
        one.apply_edit(cut)
        two.apply_edit(cut)
    torch.testing.assert_close(tiny.logits(one, tiny.batch(one)), tiny.logits(two, tiny.batch(two)), atol=5e-5, rtol=0)
    assert one.anatomy.layers[0].part("query").rank == 32
    again(one, tmp_path)


@pytest.mark.parametrize("pack", [Int8(), LowBit(base=16, group=16)])
def test_packed_factors_are_packed_again_and_factors_are_packed(pack, tmp_path):
    first, then = tiny.model("bert"), tiny.model("bert")
    first.apply_edit(pack)
    first.apply_edit(Factored(ranks=ranks(first, 4)))
    then.apply_edit(Factored(ranks=ranks(then, 4)))
    then.apply_edit(pack)
    kind = Int8Linear if isinstance(pack, Int8) else StoredLinear
    for number, model in enumerate((first, then)):
        found = model.anatomy.layers[1].part("ffn_in")
        assert isinstance(found, PackedWeight) and isinstance(found.first, kind) and isinstance(found.second, kind)
        (tmp_path / str(number)).mkdir()
        again(model, tmp_path / str(number))
        assert in_engine(model, tmp_path / str(number)) < 0.15


def test_factored_again_gets_the_new_rank_and_stays_packed():
    model = tiny.model("bert")
    for edit in (Factored(ranks=ranks(model, 8)), Int8(), Factored(ranks=ranks(model, 3))):
        model.apply_edit(edit)
    found = model.anatomy.layers[0].part("out")
    assert found.rank == 3 and isinstance(found.first, Int8Linear)


def test_factors_of_a_sparse_matrix_are_dense(tmp_path):
    model = tiny.model("bert")
    for edit in (LowBit(base=16), Sparse(), Factored(ranks=ranks(model, 4))):
        model.apply_edit(edit)
    store = model.anatomy.layers[0].part("out").first.store
    assert isinstance(store, DigitsStore) and store.base == 16
    again(model, tmp_path)


def test_shared_matrices_are_factored_once_and_stay_shared(tmp_path):
    model = tiny.model("bert")
    model.apply_edit(Share(of=[0, 0, 2]))
    model.apply_edit(Factored(ranks=ranks(model, 4)))
    found = again(model, tmp_path).anatomy.layers
    assert found[0].part("query") is found[1].part("query") is not found[2].part("query")


@pytest.mark.parametrize(
    "named, message",
    [
        ([4] * 3, "factored: 3 ranks are named and the model has 18 matrices"),
        ([4] * 17 + [33], "factored: the rank of 'bert.encoder.layer.2.output.dense' must be 0 to 32"),
        ([-1] + [4] * 17, "factored: the rank of"),
    ],
)
def test_ranks_that_do_not_fit_are_rejected_without_changes(named, message):
    model = tiny.model("bert")
    with pytest.raises(InputError, match=message):
        model.apply_edit(Factored(ranks=named))
    assert not model.blueprint.edits and not any(isinstance(module, PackedWeight) for module in model.network.modules())


def test_one_matrix_in_two_places_has_one_rank():
    model = tiny.model("bert")
    model.apply_edit(Share(of=[0, 0, 2]))
    with pytest.raises(InputError, match=r"layer.0.*and.*layer.1.* share their matrices"):
        model.apply_edit(Factored(ranks=[4] * 6 + [0] * 12))
