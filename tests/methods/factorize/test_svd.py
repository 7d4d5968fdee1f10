"""Low-rank factorization: decompositions, budgets, and models."""

import pytest
import torch

import tiny
from calibrated import CONTEXT
from niwaki.core.errors import InputError
from niwaki.methods.factorize.svd import Svd, balanced, decomposed, even_rank, ranks
from niwaki.models.edits.factored import Factored
from niwaki.models.edits.int8 import Int8
from niwaki.models.edits.share import Share
from niwaki.models.module_paths import to_dense
from niwaki.models.packed.factored import Factored as PackedWeight
from niwaki.models.packed.int8 import Int8Linear

DIAGONAL = torch.tensor([[3.0, 0.0], [0.0, 2.0]], dtype=torch.double)


@pytest.mark.parametrize(
    "rows, inputs, energy, remaining",
    [
        (None, None, [9.0, 4.0], [[3.0, 0.0], [0.0, 0.0]]),
        (None, torch.tensor([1.0, 9.0]).diag(), [36.0, 9.0], [[0.0, 0.0], [0.0, 2.0]]),  # (2·3)² and (3·1)²
        (torch.tensor([1.0, 9.0]), None, [36.0, 9.0], [[0.0, 0.0], [0.0, 2.0]]),
    ],
)
def test_weighted_decomposition_of_a_diagonal_matrix(rows, inputs, energy, remaining):
    given = [None if one is None else one.double() for one in (rows, inputs)]
    found, factors = decomposed(DIAGONAL, *given)
    torch.testing.assert_close(found, torch.tensor(energy).double())
    left, right = balanced(*factors, 1)
    torch.testing.assert_close(left @ right, torch.tensor(remaining))
    torch.testing.assert_close(left.norm(), right.norm())


@pytest.mark.parametrize("shape", [(7, 12), (12, 7)])
def test_no_other_matrix_of_the_rank_has_less_output_error(shape):
    """The outputs' best approximation of that rank is known without the weights: it is the bound."""
    generator = torch.Generator().manual_seed(0)
    weight = torch.randn(shape, generator=generator, dtype=torch.double)
    x = torch.randn(50, shape[1], generator=generator, dtype=torch.double) * torch.logspace(0, -3, shape[1])
    energy, factors = decomposed(weight, None, x.T @ x)
    left, right = balanced(*factors, 3)
    error = ((weight - left.double() @ right.double()) @ x.T).square().sum()
    bound = torch.linalg.svdvals(weight @ x.T)[3:].square().sum()
    assert error.item() == pytest.approx(bound.item(), rel=1e-5) == pytest.approx(energy[3:].sum().item(), rel=1e-5)
    plainly = decomposed(weight, None, None)[1]
    left, right = balanced(*plainly, 3)
    assert ((weight - left.double() @ right.double()) @ x.T).square().sum() > 1.5 * error


SHAPES = {"a": (6, 6), "b": (6, 6)}  # 36 numbers each, 12 a rank: rank 3 is no smaller than the whole


ENERGIES = {"a": torch.tensor([9.0, 4, 1, 1, 1, 1]), "b": torch.tensor([100.0, 50, 25, 1, 1, 1])}


@pytest.mark.parametrize(
    "keep, found",
    [(0.34, {"a": 1, "b": 1}), (0.5, {"a": 1, "b": 2}), (0.7, {"a": 1, "b": 0}), (0.85, {"a": 2, "b": 0})],
)
def test_ranks_under_a_budget(keep, found):
    assert ranks(SHAPES, ENERGIES, keep, multiple=1, even=False) == found


def test_even_and_rounded_ranks():
    assert even_rank(384, 1536, 0.5, 1) == 153  # 294,912 / 1920 = 153.6
    assert even_rank(384, 1536, 0.5, 8) == 152
    assert even_rank(6, 6, 0.99, 1) == 2 and even_rank(2, 2, 0.9, 1) == 0
    assert ranks(SHAPES, ENERGIES, 0.5, 1, even=True) == {"a": 1, "b": 1}
    found = ranks({"a": (64, 64), "b": (64, 64)}, {name: torch.ones(64) for name in "ab"}, 0.7, 8, even=False)
    assert all(rank % 8 == 0 for rank in found.values())


def test_a_budget_below_rank_one_is_rejected():
    with pytest.raises(InputError, match=r"svd: keep 0.1 is less than rank 1 in every matrix takes, which is 0.333"):
        ranks(SHAPES, ENERGIES, 0.1, multiple=1, even=False)


@pytest.mark.parametrize("family", tiny.FAMILIES)
@pytest.mark.parametrize("weighting", ["both", "activations", "fisher", "none"])
def test_the_budget_is_met(family, weighting):
    model = tiny.model(family)

    def numbers() -> int:
        return sum(to_dense(model.network.get_submodule(path)).weight.numel() for path in model.anatomy.matrices())

    before = numbers()
    model = Svd(keep=0.6, weighting=weighting).prepare(model, CONTEXT)
    assert 0.5 * before < numbers() <= 0.6 * before
    assert torch.isfinite(tiny.logits(model, tiny.batch(model))).all()


def test_low_rank_matrices_are_exact():
    model = tiny.model("bert")
    for path in model.anatomy.matrices():
        with torch.no_grad():
            weight = model.network.get_submodule(path).weight
            weight.copy_(torch.randn(weight.shape[0], 5) @ torch.randn(5, weight.shape[1]) / 5)
    before = tiny.logits(model, tiny.batch(model))
    model = Svd(keep=0.4).prepare(model, CONTEXT)
    torch.testing.assert_close(tiny.logits(model, tiny.batch(model)), before, atol=1e-4, rtol=0)


def test_activations_reduce_the_output_error():
    """On rows whose inputs are seen; ranks alike, so that only the factors differ."""
    model = tiny.model("bert", width=64, ffn=128)
    before = tiny.logits(model, tiny.batch(model))
    errors = {}
    for weighting in ("activations", "none"):
        found = Svd(keep=0.6, weighting=weighting, even=True).prepare(model.clone(), CONTEXT)
        errors[weighting] = (tiny.logits(found, tiny.batch(model)) - before).square().mean()
    assert errors["activations"] < 0.5 * errors["none"]


@pytest.mark.parametrize("weighting", ["both", "fisher"])
def test_shared_and_packed_matrices_stay_shared_and_packed(weighting):
    model = tiny.model("bert", layers=4)
    model.apply_edit(Share(of=[0, 0, 2, 2]))
    model.apply_edit(Int8())
    model = Svd(keep=0.5, weighting=weighting).prepare(model, CONTEXT)
    one, two, three, _ = (layer.part("ffn_in") for layer in model.anatomy.layers)
    assert one is two and isinstance(three, PackedWeight) and isinstance(three.first, Int8Linear)


@pytest.mark.parametrize("family", ["averaging", "bilstm", "cnn"])
def test_networks_without_attention_are_factorized(family):
    model = tiny.model(family)
    size = model.parameters()
    model = Svd(keep=0.5).dry_prepare(model.clone()) and Svd(keep=0.5).prepare(model, CONTEXT)
    assert model.parameters() < size


def test_a_budget_that_saves_nothing_is_rejected_in_the_dry_run():
    model = tiny.model("bert", width=4, heads=1, ffn=4)
    with pytest.raises(InputError, match=r"svd: keep 0.9 is less than rank 4 in every matrix takes, which is 1"):
        Svd(keep=0.9, multiple=4).dry_prepare(model)
    with pytest.raises(InputError, match=r"svd: keep 0.01 is less than rank 1"):
        Svd(keep=0.01).prepare(tiny.model("bert"), CONTEXT)
    with pytest.raises(InputError, match=r"svd: keep 0.01 is less than rank 1"):
        Svd(keep=0.01).dry_prepare(tiny.model("bert"))


def test_factored_matrices_are_factorized_again():
    model = tiny.model("bert")
    model.apply_edit(Factored(ranks=[20] * 18))
    model = Svd(keep=0.3).prepare(model, CONTEXT)
    assert all(model.network.get_submodule(path).rank < 20 for path in model.anatomy.whole_matrices())
