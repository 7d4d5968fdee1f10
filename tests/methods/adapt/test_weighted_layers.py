"""A head on the weighted sum of all layers: its value by hand, on transformers and LSTMs, saved, exported, with frozen layers."""

import math

import numpy as np
import onnxruntime
import pytest
import torch

import tiny
from calibrated import CONTEXT
from niwaki.core.errors import InputError
from niwaki.methods.adapt.freeze import Freeze
from niwaki.methods.adapt.weighted_layers import WeightedLayers
from niwaki.models.edits.layers import Layers
from niwaki.models.forward import forward, run_padded
from niwaki.models.model import load_folder
from niwaki.models.parts.heads._weighted import weighted_sum
from niwaki.models.record import HIDDEN

TAGS = ["O", "B-PER", "I-PER"]
SQUARE = {"lstm_units": 32, "niwaki_texts": 1}  # layers as wide as token vectors


def start(family, head="SequenceClassification", **more):
    sizes = SQUARE if family in tiny.READERS else {}
    labels = TAGS if head == "TokenClassification" else tiny.LABELS
    return tiny.model(family, layers=2, head=head, labels=labels, **sizes, **more)


def weighted(family, head="SequenceClassification", **settings):
    model = WeightedLayers(**settings).prepare(start(family, head), CONTEXT)
    own = model.anatomy.head
    torch.nn.init.normal_(own.layer_scores, generator=torch.Generator().manual_seed(1))
    own.gamma.data.fill_(1.7)
    return model


def test_the_weights_are_a_softmax_and_gamma_scales_their_sum():
    """Weights 1/4 and 3/4; the narrow state is repeated."""
    narrow, wide = torch.tensor([[[8.0]]]), torch.tensor([[[4.0, 12.0]]])
    found = weighted_sum([narrow, wide], torch.tensor([0.0, math.log(3)]), torch.tensor([0.5]), 2)
    torch.testing.assert_close(found, torch.tensor([[[2.5, 5.5]]]))


@pytest.mark.parametrize("family", ["bert", "albert", "lstm_lm", "bilstm_lm", "bilstm"])
@torch.no_grad()
def test_logits_are_those_of_the_sum_written_out(family):
    for head in ("SequenceClassification", "TokenClassification"):
        model = weighted(family, head)
        batch, own = tiny.batch(model), model.anatomy.head
        outputs = forward(model.anatomy, batch, frozenset({HIDDEN}))
        width = max(states.shape[-1] for states in outputs.hidden)
        states = [one.repeat(1, 1, width // one.shape[-1]) for one in outputs.hidden]
        shares = own.layer_scores.softmax(0)
        mixed = 1.7 * sum(share * one for share, one in zip(shares, states, strict=True))
        for row, mask in enumerate(batch.mask.bool()):
            read = mixed[row, mask] if own.per_token else mixed[row, mask].mean(dim=0)
            found = outputs.logits[row, mask] if own.per_token else outputs.logits[row]
            torch.testing.assert_close(found, own.linear(read), atol=1e-5, rtol=0)
        torch.testing.assert_close(
            tiny.real(run_padded(model.anatomy, batch.inputs), batch),
            tiny.real(outputs.logits, batch),
            atol=1e-5,
            rtol=0,
        )


@pytest.mark.parametrize("family, head", [("bert", "TokenClassification"), ("bilstm_lm", "SequenceClassification")])
@torch.no_grad()
def test_it_is_saved_and_exported(family, head, tmp_path):
    model = weighted(family, head)
    batch = tiny.batch(model)
    wanted = forward(model.anatomy, batch).logits
    tiny.with_graphs(model, tmp_path)
    assert torch.equal(forward(load_folder(tmp_path).anatomy, batch).logits, wanted)
    session = onnxruntime.InferenceSession(str(tmp_path / "model.onnx"))
    names = {given.name for given in session.get_inputs()}
    (found,) = session.run(["logits"], {name: value.numpy() for name, value in batch.inputs.items() if name in names})
    np.testing.assert_allclose(tiny.real(torch.from_numpy(found), batch), tiny.real(wanted, batch), atol=1e-4)


@pytest.mark.parametrize("family", ["bert", "bilstm_lm"])
def test_with_frozen_layers_the_head_alone_is_trained(family):
    model = start(family)
    for method in (Freeze(layers=2), WeightedLayers()):
        model = method.prepare(model, CONTEXT)
    trained = {name for name, one in model.network.named_parameters() if one.requires_grad and "pooler" not in name}
    assert trained == {"head.layer_scores", "head.gamma", "head.linear.weight", "head.linear.bias"}


@torch.no_grad()
def test_one_layer_alone_can_be_read():
    model = WeightedLayers(only=1).prepare(start("bilstm_lm"), CONTEXT)
    own, batch = model.anatomy.head, tiny.batch(model)
    assert own.layer_scores.softmax(0).tolist() == [0, 1, 0] and not own.layer_scores.requires_grad
    outputs = forward(model.anatomy, batch, frozenset({HIDDEN}))
    mean = outputs.hidden[1][0, batch.mask[0].bool()].mean(dim=0)
    torch.testing.assert_close(outputs.logits[0], own.linear(mean), atol=1e-5, rtol=0)
    with pytest.raises(InputError, match="only is 3, and the model has hidden states 0 to 2"):
        WeightedLayers(only=3).dry_prepare(start("bilstm_lm"))


def test_layers_that_are_cut_afterwards_are_noticed():
    model = weighted("bert")
    model.apply_edit(Layers(keep=[0]))
    with pytest.raises(InputError, match="the head sums 3 hidden states, and the model now has 2"):
        forward(model.anatomy, tiny.batch(model))


@pytest.mark.parametrize(
    "model, problem",
    [
        (lambda: tiny.model("bert", head="QuestionAnswering", labels=["start", "end"]), "heads for labels of texts"),
        (lambda: tiny.model("averaging"), "no layers on top of each other"),
        (
            lambda: tiny.model("lstm_lm", layers=2, niwaki_texts=1, lstm_units=24),
            "sizes 32, 24, 32, which cannot be summed",
        ),
        (lambda: tiny.model("lstm_lm", layers=2, lstm_units=32), "compares two texts"),
    ],
)
def test_models_that_do_not_fit_are_rejected(model, problem):
    with pytest.raises(InputError, match=problem):
        WeightedLayers().dry_prepare(model())
