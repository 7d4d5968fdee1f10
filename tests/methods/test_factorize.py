"""Factorizing: what counts, the ranks and the factors by hand, and against what torch gives directly."""

import pytest
import torch

import tiny
from niwaki.core.errors import InputError
from niwaki.methods._method import Context
from niwaki.methods.factorize._calibration import covariances, fisher_rows, output_gradients
from niwaki.methods.factorize.embeddings import Embeddings, narrowed, occurrences
from niwaki.methods.factorize.kronecker import Kronecker
from niwaki.methods.factorize.svd import Svd, balanced, decomposed, even_rank, ranks
from niwaki.models.edits.factored import Factored
from niwaki.models.edits.int8 import Int8
from niwaki.models.edits.share import Share
from niwaki.models.forward import Batch
from niwaki.models.module_paths import to_dense
from niwaki.models.packed.factored import Factored as PackedWeight
from niwaki.models.packed.factored import FactoredTable
from niwaki.models.packed.int8 import Int8Linear
from niwaki.models.packed.kronecker import Kronecker as Sum

LOSS = torch.nn.functional.cross_entropy
TEXTS = [text for text, _ in tiny.sentences(8)]
CONTEXT = Context(
    0,
    None,
    None,
    lambda model, count: [tiny.batch(model, seed=seed) for seed in range(min(count, 2))],
    lambda model, batch: LOSS(model.network(**batch.inputs).logits, batch.targets),
    None,
    lambda: TEXTS,
)
DIAGONAL = torch.tensor([[3.0, 0.0], [0.0, 2.0]], dtype=torch.double)


@pytest.mark.parametrize(
    "rows, inputs, energy, kept",
    [
        (None, None, [9.0, 4.0], [[3.0, 0.0], [0.0, 0.0]]),
        (None, torch.tensor([1.0, 9.0]).diag(), [36.0, 9.0], [[0.0, 0.0], [0.0, 2.0]]),  # (2·3)² and (3·1)²
        (torch.tensor([1.0, 9.0]), None, [36.0, 9.0], [[0.0, 0.0], [0.0, 2.0]]),
    ],
)
def test_decomposed_by_hand(rows, inputs, energy, kept):
    given = [None if one is None else one.double() for one in (rows, inputs)]
    found, factors = decomposed(DIAGONAL, *given)
    torch.testing.assert_close(found, torch.tensor(energy).double())
    left, right = balanced(*factors, 1)
    torch.testing.assert_close(left @ right, torch.tensor(kept))
    torch.testing.assert_close(left.norm(), right.norm())


@pytest.mark.parametrize("shape", [(7, 12), (12, 7)])
def test_no_other_matrix_of_the_rank_is_nearer_to_the_outputs(shape):
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
def test_ranks_by_hand(keep, found):
    assert ranks(SHAPES, ENERGIES, keep, multiple=1, even=False) == found


def test_even_and_rounded_ranks_by_hand():
    assert even_rank(384, 1536, 0.5, 1) == 153  # 294,912 / 1920 = 153.6
    assert even_rank(384, 1536, 0.5, 8) == 152
    assert even_rank(6, 6, 0.99, 1) == 2 and even_rank(2, 2, 0.9, 1) == 0
    assert ranks(SHAPES, ENERGIES, 0.5, 1, even=True) == {"a": 1, "b": 1}
    found = ranks({"a": (64, 64), "b": (64, 64)}, {name: torch.ones(64) for name in "ab"}, 0.7, 8, even=False)
    assert all(rank % 8 == 0 for rank in found.values())


def test_a_budget_that_is_less_than_rank_one_is_refused():
    with pytest.raises(InputError, match=r"svd: keep 0.1 is less than rank 1 in every matrix takes, which is 0.333"):
        ranks(SHAPES, ENERGIES, 0.1, multiple=1, even=False)


def test_covariances_are_those_of_real_tokens():
    model = tiny.model("bert")
    path, seen = "bert.encoder.layer.1.output.dense", []
    handle = model.network.get_submodule(path).register_forward_pre_hook(lambda module, args: seen.append(args[0]))
    batch = tiny.batch(model)
    tiny.logits(model, batch)
    handle.remove()
    rows = torch.cat([row[: int(mask.sum())] for row, mask in zip(seen[0], batch.mask, strict=True)]).double()
    torch.testing.assert_close(covariances(model, [path], [batch], CONTEXT)[path], rows.T @ rows)


@pytest.mark.parametrize("frozen", [False, True])
def test_fisher_rows_are_the_squares_of_gradients(frozen):
    model = tiny.model("bert")
    path = "bert.encoder.layer.1.output.dense"
    weight = model.network.get_submodule(path).weight
    wanted = torch.zeros(32)
    for seed in range(2):
        (gradient,) = torch.autograd.grad(CONTEXT.loss(model, tiny.batch(model, seed=seed)), [weight])
        wanted += gradient.square().sum(dim=1)
    model.network.requires_grad_(not frozen)
    found = fisher_rows(model, [path], CONTEXT.calibration(model, 2), CONTEXT)[path]
    torch.testing.assert_close(found.float(), wanted, rtol=1e-4, atol=1e-9)
    assert all(parameter.grad is None for parameter in model.network.parameters())
    assert not model.network.get_submodule(path)._forward_hooks


def test_slopes_are_the_squares_of_gradients_by_outputs():
    """Of a bias the gradient is that of the outputs, summed over tokens: with one token in all they are the same."""
    model = tiny.model("bert")
    path = "bert.encoder.layer.2.output.dense"
    inputs = {name: value[:1, :1] for name, value in tiny.batch(model).inputs.items()}
    batch = Batch(inputs, tiny.batch(model).targets[:1], torch.zeros(1))
    (gradient,) = torch.autograd.grad(CONTEXT.loss(model, batch), [model.network.get_submodule(path).bias])
    torch.testing.assert_close(output_gradients(model, [path], [batch], CONTEXT)[path].float(), gradient.square())
    twice = output_gradients(model, [path], [batch, batch], CONTEXT)[path]
    torch.testing.assert_close(twice.float(), 2 * gradient.square())


@pytest.mark.parametrize("family", tiny.FAMILIES)
@pytest.mark.parametrize("weighting", ["both", "activations", "fisher", "none"])
def test_the_budget_is_kept(family, weighting):
    model = tiny.model(family)

    def numbers() -> int:
        return sum(to_dense(model.network.get_submodule(path)).weight.numel() for path in model.anatomy.matrices())

    before = numbers()
    model = Svd(keep=0.6, weighting=weighting).prepare(model, CONTEXT)
    assert 0.5 * before < numbers() <= 0.6 * before
    assert torch.isfinite(tiny.logits(model, tiny.batch(model))).all()


def test_matrices_that_are_of_low_rank_lose_nothing():
    model = tiny.model("bert")
    for path in model.anatomy.matrices():
        with torch.no_grad():
            weight = model.network.get_submodule(path).weight
            weight.copy_(torch.randn(weight.shape[0], 5) @ torch.randn(5, weight.shape[1]) / 5)
    before = tiny.logits(model, tiny.batch(model))
    model = Svd(keep=0.4).prepare(model, CONTEXT)
    torch.testing.assert_close(tiny.logits(model, tiny.batch(model)), before, atol=1e-4, rtol=0)


def test_on_average_outputs_are_nearer_with_activations_than_without():
    """On rows whose inputs are seen; ranks alike, so that only the factors differ."""
    model = tiny.model("bert", width=64, ffn=128)
    before = tiny.logits(model, tiny.batch(model))
    errors = {}
    for weighting in ("activations", "none"):
        found = Svd(keep=0.6, weighting=weighting, even=True).prepare(model.clone(), CONTEXT)
        errors[weighting] = (tiny.logits(found, tiny.batch(model)) - before).square().mean()
    assert errors["activations"] < 0.5 * errors["none"]


@pytest.mark.parametrize("weighting", ["both", "fisher"])
def test_shared_and_packed_matrices(weighting):
    model = tiny.model("bert", layers=4)
    model.apply_edit(Share(of=[0, 0, 2, 2]))
    model.apply_edit(Int8())
    model = Svd(keep=0.5, weighting=weighting).prepare(model, CONTEXT)
    one, two, three, _ = (layer.part("ffn_in") for layer in model.anatomy.layers)
    assert one is two and isinstance(three, PackedWeight) and isinstance(three.first, Int8Linear)


@pytest.mark.parametrize("family", ["averaging", "bilstm", "cnn"])
def test_networks_without_attention(family):
    model = tiny.model(family)
    size = model.parameters()
    model = Svd(keep=0.5).dry_prepare(model.clone()) and Svd(keep=0.5).prepare(model, CONTEXT)
    assert model.parameters() < size


def test_what_saves_nothing_is_refused_before_any_work():
    model = tiny.model("bert", width=4, heads=1, ffn=4)
    with pytest.raises(InputError, match=r"svd: keep 0.9 is less than rank 4 in every matrix takes, which is 1"):
        Svd(keep=0.9, multiple=4).dry_prepare(model)
    with pytest.raises(InputError, match=r"svd: keep 0.01 is less than rank 1"):
        Svd(keep=0.01).prepare(tiny.model("bert"), CONTEXT)
    with pytest.raises(InputError, match=r"svd: keep 0.01 is less than rank 1"):
        Svd(keep=0.01).dry_prepare(tiny.model("bert"))


def test_factored_again():
    model = tiny.model("bert")
    model.apply_edit(Factored(ranks=[20] * 18))
    model = Svd(keep=0.3).prepare(model, CONTEXT)
    assert all(model.network.get_submodule(path).rank < 20 for path in model.anatomy.whole_matrices())


@pytest.mark.parametrize("family", tiny.FAMILIES)
def test_kronecker_keeps_its_share_of_every_matrix(family):
    model = tiny.model(family)
    before = {path: model.network.get_submodule(path).weight.numel() for path in model.anatomy.whole_matrices()}
    model = Kronecker(keep=0.4, flops=1.0).prepare(model, CONTEXT)
    for path, size in before.items():
        found = model.network.get_submodule(path)
        assert isinstance(found, Sum)
        assert found.first.weight.numel() + found.second.weight.numel() <= 0.4 * size
    assert torch.isfinite(tiny.logits(model, tiny.batch(model))).all()


def test_kronecker_that_is_none_is_refused_before_any_work():
    with pytest.raises(InputError, match=r"kronecker: no matrix has factors with 0.001 of its parameters"):
        Kronecker(keep=0.001).dry_prepare(tiny.model("bert"))
    with pytest.raises(InputError, match="raise keep or flops"):
        Kronecker(flops=0.01).dry_prepare(tiny.model("bert"))


def test_kronecker_of_a_sum_of_products_loses_nothing():
    model = tiny.model("bert")
    for path in model.anatomy.matrices():
        with torch.no_grad():
            weight = model.network.get_submodule(path).weight
            out, inputs = weight.shape
            weight.copy_(torch.kron(torch.randn(8, inputs // 8), torch.randn(out // 8, 8)) / 8)
    before = tiny.logits(model, tiny.batch(model))
    model = Kronecker(keep=0.25, flops=1.5).prepare(model, CONTEXT)
    assert {
        (module.second.out_features, module.first.in_features)
        for module in model.network.modules()
        if isinstance(module, Sum)
    } == {(8, 8)}
    torch.testing.assert_close(tiny.logits(model, tiny.batch(model)), before, atol=1e-4, rtol=0)


def test_narrowed_by_hand():
    """Two directions; the one that is longer goes, because its piece is rare."""
    table = torch.tensor([[2.0, 0.0], [0.0, 1.0]])
    for counts, kept in (([1.0, 1.0], [[2.0, 0.0], [0.0, 0.0]]), ([1.0, 9.0], [[0.0, 0.0], [0.0, 1.0]])):
        rows, up = narrowed(table, torch.tensor(counts).double(), 1)
        torch.testing.assert_close(rows @ up.T, torch.tensor(kept))


def test_narrowed_is_the_best_there_is():
    """Against the singular value decomposition of the table with its rows weighted."""
    generator = torch.Generator().manual_seed(0)
    table, counts = torch.randn(40, 12, generator=generator), 9 * torch.rand(40, generator=generator).double() + 0.1
    rows, up = narrowed(table, counts, 5)
    error = (counts * (rows @ up.T - table).double().square().sum(dim=1)).sum()
    bound = torch.linalg.svdvals(counts.sqrt()[:, None] * table.double())[5:].square().sum()
    assert error.item() == pytest.approx(bound.item(), rel=1e-5)


def test_occurrences_by_hand():
    model = tiny.model("bert")
    vocabulary = model.tokenizer.get_vocab()
    found = occurrences(model.tokenizer, ["good film", "good plot."])
    wanted = {"good": 2, "film": 1, "plot": 1, ".": 1, "[CLS]": 2, "[SEP]": 2}
    assert found == {vocabulary[piece]: count for piece, count in wanted.items()}


@pytest.mark.parametrize("family", [*tiny.FAMILIES, *tiny.READERS])
def test_a_narrow_table_keeps_the_pieces_of_its_texts_best(family):
    model = tiny.model(family)
    size, ids = model.parameters(), tiny.batch(model, count=8).inputs["input_ids"]
    before = model.anatomy.tokens(ids).detach()
    rare = Embeddings(width=12).prepare(model.clone(), Context(0, None, None, None, None, None, lambda: ["un re in"]))
    model = Embeddings(width=12).prepare(model, CONTEXT)
    assert isinstance(model.anatomy.tokens, FactoredTable) and model.parameters() < size
    near, far = ((one.anatomy.tokens(ids) - before).square().mean() for one in (model, rare))
    assert near < 0.8 * far and torch.isfinite(tiny.logits(model, tiny.batch(model))).all()


def test_a_table_that_gets_no_smaller_is_refused_before_any_work():
    for width in (31, 32, 400):
        with pytest.raises(
            InputError, match=f"embeddings: a table of 105 rows and 32 columns is no smaller with {width}"
        ):
            Embeddings(width=width).dry_prepare(tiny.model("bert"))
    model = Embeddings(width=8).prepare(tiny.model("bert"), CONTEXT)
    with pytest.raises(InputError, match="105 rows and 8 columns is no smaller with 8"):
        Embeddings(width=8).dry_prepare(model)
    assert Embeddings(width=4).prepare(model, CONTEXT).anatomy.tokens.table.embedding_dim == 4
