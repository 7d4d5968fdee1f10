"""A narrow token table and what widens it: best in the sense of squares, packed, trimmed and cut later."""

import pytest
import torch

import tiny
from niwaki.core.errors import InputError
from niwaki.models.edits.hidden_size import HiddenSize
from niwaki.models.edits.int8 import Int8
from niwaki.models.edits.low_bit import LowBit
from niwaki.models.edits.narrow import Narrow
from niwaki.models.edits.vocabulary import Vocabulary
from niwaki.models.module_paths import to_dense
from niwaki.models.packed.factored import FactoredTable
from niwaki.models.packed.int8 import Int8Embedding, Int8Linear
from niwaki.models.packed.store import StoredTable

from .saved import again, in_engine, numbers


@pytest.mark.parametrize("family", [*tiny.FAMILIES, "averaging", "cnn"])
def test_a_table_of_that_rank_is_exact(family, tmp_path):
    model = tiny.model(family)
    table, size = model.anatomy.tokens, model.parameters()
    tokens, width = table.weight.shape
    with torch.no_grad():
        table.weight.copy_(torch.randn(tokens, 5) @ torch.randn(5, width) / 2)
    before = tiny.logits(model, tiny.batch(model))
    model.apply_edit(Narrow(width=5))
    torch.testing.assert_close(tiny.logits(model, tiny.batch(model)), before, atol=2e-5, rtol=1e-6)
    again(model, tmp_path)
    assert numbers(tmp_path) == model.parameters() == size - tokens * width + 5 * (tokens + width)
    if family in ("bert", "electra"):
        assert in_engine(model, tmp_path) < 1e-4


def test_without_factors_the_error_is_what_the_left_out_singular_values_say():
    model = tiny.model("bert")
    table = model.anatomy.tokens.weight.detach().clone()
    model.apply_edit(Narrow(width=20))
    error = (to_dense(model.anatomy.tokens).weight - table).square().sum()
    torch.testing.assert_close(error, torch.linalg.svdvals(table)[20:].square().sum(), rtol=1e-4, atol=0)


@pytest.mark.parametrize("pack", [Int8(), LowBit(base=16)])
def test_a_packed_table_stays_packed_and_a_narrow_one_is_packed(pack, tmp_path):
    first, then = tiny.model("bert"), tiny.model("bert")
    first.apply_edit(pack)
    first.apply_edit(Narrow(width=8))
    then.apply_edit(Narrow(width=8))
    then.apply_edit(pack)
    kind = Int8Embedding if isinstance(pack, Int8) else StoredTable
    for number, model in enumerate((first, then)):
        assert isinstance(model.anatomy.tokens.table, kind)
        (tmp_path / str(number)).mkdir()
        again(model, tmp_path / str(number))
    assert isinstance(then.anatomy.tokens.up, Int8Linear) == isinstance(pack, Int8)


def test_trimmed_and_cut_afterwards(tmp_path):
    """The full table with the same done to it says what must come out."""
    model, whole = tiny.model("bert"), tiny.model("bert")
    model.apply_edit(Narrow(width=31))
    with torch.no_grad():
        whole.anatomy.tokens.weight.copy_(to_dense(model.anatomy.tokens).weight)
    keep = list(range(0, 60, 2))
    for one in (model, whole):
        one.apply_edit(Vocabulary(keep=keep))
        one.apply_edit(HiddenSize(keep=list(range(4, 30))))
    assert isinstance(model.anatomy.tokens, FactoredTable) and model.anatomy.tokens.num_embeddings == 30
    ids = torch.arange(30)[None]
    torch.testing.assert_close(model.anatomy.tokens(ids), whole.anatomy.tokens(ids), atol=1e-5, rtol=0)
    model.save(tmp_path)


def test_a_narrow_table_can_be_narrowed_again(tmp_path):
    model = tiny.model("bert")
    for edit in (Narrow(width=16), Int8(), Narrow(width=8)):
        model.apply_edit(edit)
    table = again(model, tmp_path).anatomy.tokens
    assert isinstance(table.table, Int8Embedding) and table.table.embedding_dim == 8


@pytest.mark.parametrize("width", [0, -1, 32, 10**9])
def test_a_width_that_is_not_narrower_is_rejected(width):
    model = tiny.model("bert")
    with pytest.raises(InputError, match="narrow: must be 1 to 31, less than the width of 'bert"):
        model.apply_edit(Narrow(width=width))
    assert not model.blueprint.edits
