"""Experts as a part: packed and padded rows, routing by text, edits that cut and pack them."""

import pytest
import torch

import tiny
from niwaki.core.errors import InputError
from niwaki.engines.export import write_graph
from niwaki.engines.runtimes.onnx import Onnx
from niwaki.models.edits.ffn import Ffn
from niwaki.models.edits.hidden_size import HiddenSize
from niwaki.models.edits.int8 import Int8
from niwaki.models.edits.low_bit import LowBit
from niwaki.models.edits.replace_part import ReplacePart
from niwaki.models.forward import forward, run_padded
from niwaki.models.model import load_folder
from niwaki.models.parts.feed_forwards.experts import Experts, ExpertsSettings, sizes_of
from niwaki.models.record import ROUTING

SHAPES = {
    "tokens": {"neurons": 30, "experts": 4, "active": 2},
    "texts": {"neurons": 30, "experts": 7, "active": 1, "route": "text", "weights": "mean", "shared": 5},
}


def with_experts(family: str, settings: dict):
    model = tiny.model(family)
    layers = [*range(len(model.anatomy.layers))]
    model.apply_edit(ReplacePart(slot="feed_forward", part="experts", layers=layers, settings=settings))
    return model


@torch.no_grad()
def outputs(model, batch):
    model.network.eval()
    return forward(model.anatomy, batch).logits


def naive(part: Experts, row: torch.Tensor, logits: torch.Tensor) -> torch.Tensor:
    """The definition, for one row."""
    best = logits.topk(part.active).indices
    weights = torch.ones(len(best)) if part.is_sum else logits[best].softmax(-1)
    total = sum(weight * part.expert(int(number), row[None])[0] for weight, number in zip(weights, best, strict=True))
    return total + (part.expert(part.experts, row[None])[0] if len(part.first) > part.experts else 0)


@pytest.mark.parametrize("kind", SHAPES)
def test_packed_and_padded_rows_equal_the_definition(kind):
    model = with_experts("bert", SHAPES[kind])
    batch = tiny.batch(model)
    with torch.no_grad():
        found = outputs(model, batch)
        torch.testing.assert_close(run_padded(model.anatomy, batch.inputs), found, atol=1e-5, rtol=0)
    part = model.anatomy.layers[0].feed_forward
    rows = torch.randn(6, 32, generator=torch.Generator().manual_seed(1))
    logits = part.router(rows)
    wanted = torch.stack([naive(part, row, own) for row, own in zip(rows, logits, strict=True)])
    torch.testing.assert_close(part(rows), wanted, atol=1e-5, rtol=0)


def test_all_tokens_of_a_text_go_where_its_first_token_goes():
    model = with_experts("bert", SHAPES["texts"])
    batch = tiny.batch(model)
    logits = forward(model.anatomy, batch, frozenset({ROUTING})).routing[0]
    lengths = sorted(batch.mask.sum(dim=1).tolist())
    for own in logits.split(lengths):
        assert (own == own[0]).all()
    assert len(logits.unique(dim=0)) == len(lengths)


@pytest.mark.parametrize(
    "edit", [Int8(), LowBit(base=16, group=8), Ffn(keep=[[1]] * 24), HiddenSize(keep=[*range(1, 28, 2), 29, 30])]
)
def test_edits_of_matrices_apply_to_experts_and_survive_saving_and_export(edit, tmp_path):
    """One expert is preferred by far: rounded inputs choose the same one as floats do, and all others get nothing."""
    model = with_experts("bert", SHAPES["texts"])
    for layer in model.anatomy.layers:
        layer.feed_forward.router.bias.data[3] += 9
    before = model.anatomy.layers[0].feed_forward.router.weight.clone()
    model.apply_edit(edit)
    if not isinstance(edit, HiddenSize):
        assert torch.equal(model.anatomy.layers[0].feed_forward.router.weight, before)
    model.save(tmp_path)
    write_graph(model, tmp_path)
    batch = tiny.batch(model)
    wanted = outputs(model, batch)
    assert torch.equal(outputs(load_folder(tmp_path), batch), wanted)
    arrays = {name: value[:1].numpy() for name, value in batch.inputs.items()}
    found = torch.from_numpy(Onnx(tmp_path, 1).logits(arrays))
    torch.testing.assert_close(found, wanted[:1], atol=0.05 if isinstance(edit, Int8 | LowBit) else 1e-4, rtol=0)


def test_neurons_that_cannot_be_divided_go_to_the_first_experts():
    assert sizes_of(10, 4) == [3, 3, 2, 2]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"experts": 4, "active": 5, "neurons": 8}, "5 active experts of 4"),
        ({"experts": 4, "neurons": 3}, "4 with 3 neurons"),
        ({"activation": "swoosh"}, "activation must be one of gelu"),
    ],
)
def test_impossible_sizes_are_rejected(settings, message):
    with pytest.raises(InputError, match=message):
        Experts(8, ExpertsSettings(**settings))
