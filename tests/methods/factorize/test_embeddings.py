"""Narrow token tables."""

import pytest
import torch

import tiny
from calibrated import CONTEXT
from niwaki.core.errors import InputError
from niwaki.methods._method import Context
from niwaki.methods.factorize.embeddings import Embeddings, narrowed, occurrences
from niwaki.models.packed.factored import FactoredTable


def test_narrow_table_of_two_columns():
    """Two directions; the one that is longer goes, because its piece is rare."""
    table = torch.tensor([[2.0, 0.0], [0.0, 1.0]])
    for counts, narrow in (([1.0, 1.0], [[2.0, 0.0], [0.0, 0.0]]), ([1.0, 9.0], [[0.0, 0.0], [0.0, 1.0]])):
        rows, up = narrowed(table, torch.tensor(counts).double(), 1)
        torch.testing.assert_close(rows @ up.T, torch.tensor(narrow))


def test_narrow_table_has_the_least_weighted_error():
    """Against the singular value decomposition of the table with its rows weighted."""
    generator = torch.Generator().manual_seed(0)
    table, counts = torch.randn(40, 12, generator=generator), 9 * torch.rand(40, generator=generator).double() + 0.1
    rows, up = narrowed(table, counts, 5)
    error = (counts * (rows @ up.T - table).double().square().sum(dim=1)).sum()
    bound = torch.linalg.svdvals(counts.sqrt()[:, None] * table.double())[5:].square().sum()
    assert error.item() == pytest.approx(bound.item(), rel=1e-5)


def test_occurrences_include_special_tokens():
    model = tiny.model("bert")
    vocabulary = model.tokenizer.get_vocab()
    found = occurrences(model.tokenizer, ["good film", "good plot."])
    wanted = {"good": 2, "film": 1, "plot": 1, ".": 1, "[CLS]": 2, "[SEP]": 2}
    assert found == {vocabulary[piece]: count for piece, count in wanted.items()}


@pytest.mark.parametrize("family", [*tiny.FAMILIES, *tiny.READERS])
def test_frequent_tokens_are_approximated_best(family):
    model = tiny.model(family)
    size, ids = model.parameters(), tiny.batch(model, count=8).inputs["input_ids"]
    before = model.anatomy.tokens(ids).detach()
    rare = Embeddings(width=12).prepare(model.clone(), Context(0, None, None, None, None, None, lambda: ["un re in"]))
    model = Embeddings(width=12).prepare(model, CONTEXT)
    assert isinstance(model.anatomy.tokens, FactoredTable) and model.parameters() < size
    near, far = ((one.anatomy.tokens(ids) - before).square().mean() for one in (model, rare))
    assert near < 0.8 * far and torch.isfinite(tiny.logits(model, tiny.batch(model))).all()


def test_a_table_that_does_not_shrink_is_rejected_in_the_dry_run():
    for width in (31, 32, 400):
        with pytest.raises(
            InputError, match=f"embeddings: a table of 105 rows and 32 columns is no smaller with {width}"
        ):
            Embeddings(width=width).dry_prepare(tiny.model("bert"))
    model = Embeddings(width=8).prepare(tiny.model("bert"), CONTEXT)
    with pytest.raises(InputError, match="105 rows and 8 columns is no smaller with 8"):
        Embeddings(width=8).dry_prepare(model)
    assert Embeddings(width=4).prepare(model, CONTEXT).anatomy.tokens.table.embedding_dim == 4
