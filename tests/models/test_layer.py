"""One layer: its parts by role, norms before and behind blocks, residuals and dropout."""

import pytest
import torch
from torch import nn

import tiny
from niwaki.models.layer import configured_dropout, hidden_matrices, normed
from niwaki.models.layout import Packed


def layer_of(family: str):
    return tiny.model(family).anatomy.layers[0]


@pytest.fixture
def bert():
    return layer_of("bert")


def test_roles_name_modules(bert):
    assert bert.path("query") == "attention.self.query" and bert.part("query") is bert.module.attention.self.query
    assert bert.matrices() == ["query", "key", "value", "out", "ffn_in", "ffn_out"]
    assert bert.matrices("feed_forward") == ["ffn_in", "ffn_out"]
    assert bert.roles("from_hidden") == {"query", "key", "value", "ffn_in"}
    assert bert.roles("to_hidden") == {"out", "ffn_out"}
    assert set(hidden_matrices(bert)) == set(bert.matrices())
    assert (bert.heads, bert.head_size, bert.ffn_size, bert.has_attention) == (4, 8, 64, True)
    assert bert.norms == ["attention_norm", "ffn_norm"]


def test_a_replaced_part_is_found_under_its_role(bert):
    other = nn.Linear(32, 32)
    bert.replace("query", other)
    assert bert.part("query") is other and bert.mixer.layer.part("query") is other


def test_a_norm_that_is_left_out_is_none_of_the_norms():
    first, second, *_ = tiny.model("modernbert").anatomy.layers
    assert first.norms == ["ffn_norm"] and second.norms == ["attention_norm", "ffn_norm"]


@pytest.mark.parametrize("family", ["bert", "llama"])
@torch.no_grad()
def test_a_layer_is_two_blocks_with_residuals(family):
    """BERT norms behind each block: norm(x + f(x)). Llama norms in front: x + f(norm(x))."""
    layer = layer_of(family)
    rows, layout = torch.randn(7, 32), Packed(torch.ones(1, 7, dtype=torch.long))
    read = layer.part("attention_norm")(rows) if layer.paths.pre_norm else rows
    attended = rows + layer.mixer.forward(read, layout, {})
    attended = attended if layer.paths.pre_norm else layer.part("attention_norm")(attended)
    read = layer.part("ffn_norm")(attended) if layer.paths.pre_norm else attended
    fed = attended + layer.feed_forward.forward_in(read, layout, {})
    wanted = fed if layer.paths.pre_norm else layer.part("ffn_norm")(fed)
    assert layer.paths.pre_norm == (family == "llama")
    torch.testing.assert_close(layer.run(rows, layout, True, {})[0], wanted, atol=1e-6, rtol=0)


@torch.no_grad()
def test_first_tokens_alone_are_as_among_all(bert):
    mask = torch.tensor([[1, 1, 1, 1], [1, 1, 0, 0]])
    layout = Packed(mask)
    rows = layout.pack(torch.randn(2, 4, 32))
    every, _ = bert.run(rows, layout, True, {})
    torch.testing.assert_close(bert.run(rows, layout, False, {})[0], layout.first(every), atol=1e-6, rtol=0)


def test_dropout_is_that_of_the_config_and_only_while_training(bert):
    bert.module.eval()
    rows = torch.ones(200, 32)
    assert bert.dropout_rate("out_dropout") == 0 and bert.drop("out_dropout", rows) is rows
    bert.module.train()
    assert bert.dropout_rate("out_dropout") == configured_dropout(bert, "out_dropout") == 0.1
    dropped = bert.drop("out_dropout", rows)
    assert 0.05 < (dropped == 0).float().mean() < 0.15
    assert dropped.max().item() == pytest.approx(1 / 0.9)


def test_a_family_may_have_no_dropout():
    layer = layer_of("llama")
    assert configured_dropout(layer, "out_dropout") == 0.0


def test_rates_may_be_numbers_or_other_modules(bert):
    bert.module.attention.output.dropout = nn.Identity()
    assert configured_dropout(bert, "out_dropout") == 0.0


def test_the_norm_of_rows_is_the_norms_own():
    norm, rows = nn.LayerNorm(32), torch.randn(5, 32)
    assert torch.equal(normed(rows, norm), norm(rows))
