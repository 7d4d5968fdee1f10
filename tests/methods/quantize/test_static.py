"""Static quantization: measured ranges and their use."""

import pytest
import torch

import tiny
from calibrated import CONTEXT
from niwaki.methods.quantize.static import Static, covering, widest
from niwaki.models.edits.int8 import Int8 as Int8Edit
from niwaki.models.forward import Batch
from niwaki.models.packed.int8 import Int8Embedding, quantize_rows
from niwaki.models.packed.static import StaticInt8Linear


def test_ranges_cover_the_fraction():
    x = torch.arange(-50.0, 50.0).reshape(10, 10)  # a hundred numbers
    assert [float(end) for end in covering(x, 1.0)] == [-50, 49]
    assert [float(end) for end in covering(x, 0.9)] == [-45, 44]
    assert [float(end) for end in covering(x[:1, :1], 0.6)] == [-50, -50]
    assert [float(end) for end in widest([covering(x, 1.0), covering(3 * x, 0.9)])] == [-135, 132]


def test_ranges_are_those_of_each_matrix_input():
    model = tiny.model("bert")
    batches = CONTEXT.calibration(model, 3)
    with torch.no_grad():
        hidden = torch.cat([model.anatomy.inputs.forward(one.inputs)[one.mask.bool()] for one in batches])
    query = Static(batches=3).prepare(model, CONTEXT).anatomy.layers[0].part("query")
    assert isinstance(query, StaticInt8Linear) and isinstance(model.anatomy.tokens, Int8Embedding)
    step = float(hidden.max() - hidden.min()) / 255
    assert float(query.step) == pytest.approx(step, rel=1e-5)
    assert int(query.zero) == round(float(-hidden.min()) / step)


@pytest.mark.parametrize("family", ["albert", "bert", "cnn", "bilstm", "averaging"])
def test_outputs_are_close_and_independent_of_the_batch(family):
    model = tiny.model(family)
    batch = tiny.batch(model)
    before = tiny.logits(model, batch)
    model = Static().prepare(model, CONTEXT)
    after = tiny.logits(model, batch)
    assert (after - before).abs().max() < 0.15 * before.abs().max()
    one = Batch({name: value[2:3] for name, value in batch.inputs.items()}, batch.targets, batch.rows)
    torch.testing.assert_close(tiny.logits(model, one), after[2:3], atol=1e-4, rtol=0)


def test_a_packed_model_gets_ranges():
    model = tiny.model("bert")
    model.apply_edit(Int8Edit())
    codes = model.anatomy.layers[0].part("query").weight.clone()
    query = Static().prepare(model, CONTEXT).anatomy.layers[0].part("query")
    assert torch.equal(query.weight, codes) and torch.equal(quantize_rows(query.to_dense().weight)[0].T, codes)
