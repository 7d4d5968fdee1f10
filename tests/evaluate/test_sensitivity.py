"""Sensitivities are compared with the loss after cuts made by hand."""

import pytest
import torch

import tiny
from niwaki.evaluate.sensitivity import half_sparse, quarter_rank, sensitivity
from niwaki.models.edits.int8 import Int8
from niwaki.models.edits.layers import Layers


def loss(model, batch):
    return torch.nn.functional.cross_entropy(model.network(**batch.inputs).logits, batch.targets)


def cuts_of(model, batches):
    found = sensitivity(model, batches, loss)
    return found, {(cut["what"], cut["how"]): cut["more"] for cut in found["cuts"]}


@torch.no_grad()
def test_cuts_match_manual_edits_and_are_undone():
    model = tiny.model("bert")
    batches = [tiny.batch(model), tiny.batch(model, seed=1)]
    layer, width = model.anatomy.layers[1], model.anatomy.layers[1].head_size
    layer.part("out").weight[:, 2 * width : 3 * width] = 0  # nobody listens to head 2 of layer 1
    before = {name: value.clone() for name, value in model.network.state_dict().items()}
    found, cuts = cuts_of(model, batches)
    whole = sum(float(loss(model, batch)) for batch in batches) / 2
    assert found["loss"] == pytest.approx(whole)
    assert len(found["cuts"]) == 3 + 3 * 4 + 3 * 6 * 4
    assert cuts["layer 1 head 2", "without it"] == pytest.approx(0, abs=1e-7)
    assert cuts["layer 1 head 1", "without it"] != 0
    small = model.clone()
    small.apply_edit(Layers(keep=[0, 2]))
    assert cuts["layer 1", "without it"] == pytest.approx(
        sum(float(loss(small, batch)) for batch in batches) / 2 - whole
    )
    half = model.clone()
    weight = half.anatomy.layers[2].part("ffn_in").weight
    weight[weight.abs() <= weight.abs().flatten().sort().values[weight.numel() // 2 - 1]] = 0
    name = "encoder.layer.2.intermediate.dense"
    assert cuts[name, "half of it 0"] == pytest.approx(
        sum(float(loss(half, batch)) for batch in batches) / 2 - whole, abs=1e-6
    )
    assert all(torch.equal(value, before[name]) for name, value in model.network.state_dict().items())


def test_cuts_of_a_matrix_by_hand():
    weight = torch.diag(torch.tensor([8.0, 4.0, 2.0, 1.0]))
    assert half_sparse(torch.tensor([[1.0, -2.0], [3.0, -4.0]])).tolist() == [[0, 0], [3, -4]]
    torch.testing.assert_close(quarter_rank(weight), torch.diag(torch.tensor([8.0, 0, 0, 0])))


@pytest.mark.parametrize("family", ["albert", "averaging", "bilstm"])
def test_shared_layers_packed_matrices_and_networks_without_layers(family):
    model = tiny.model(family)
    model.apply_edit(Int8())
    _, cuts = cuts_of(model, [tiny.batch(model)])
    assert cuts and all(how != "without it" or "head" in what for what, how in cuts)
