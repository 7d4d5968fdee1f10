"""BitFit: which biases are trained."""

import pytest

import tiny
from calibrated import CONTEXT
from niwaki.core.errors import InputError
from niwaki.methods.adapt.bitfit import Bitfit, has_bias, make_constant, make_trainable
from niwaki.models.edits.int8 import Int8
from niwaki.models.packed.int8 import Int8Linear

LAYER = "bert.encoder.layer.0."
PARTIAL = {"attention.self.query.bias", "intermediate.dense.bias"}
ALL = PARTIAL | {
    "attention.self.key.bias",
    "attention.self.value.bias",
    "attention.output.dense.bias",
    "attention.output.LayerNorm.bias",
    "output.dense.bias",
    "output.LayerNorm.bias",
}


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("biases, wanted", [("all", ALL), ("partial", PARTIAL)])
def test_the_biases_of_a_layer(biases, wanted, packed):
    model = tiny.model("bert")
    if packed:
        model.apply_edit(Int8())
    model = Bitfit(biases=biases).prepare(model, CONTEXT)
    names = [name for name, one in model.network.named_parameters() if one.requires_grad]
    assert {name.removeprefix(LAYER) for name in names if name.startswith(LAYER)} == wanted
    outside = {name for name in names if ".layer." not in name}
    assert outside == {"classifier.weight", "classifier.bias"} | (
        {"bert.embeddings.LayerNorm.bias"} if biases == "all" else set()
    )


def test_a_stored_bias_becomes_a_parameter_for_the_time_of_training():
    module = Int8Linear(4, 3)
    names = module.state_dict().keys()
    make_trainable(module)
    assert module.bias.requires_grad and has_bias(module) and set(module.state_dict()) == set(names)
    make_constant(module)
    assert not list(module.parameters()) and has_bias(module) and set(module.state_dict()) == set(names)


def test_networks_without_biases_are_rejected():
    model = tiny.model("bert")
    for module in model.network.bert.modules():
        if has_bias(module):
            module.bias = None
    with pytest.raises(InputError, match="has no biases to train"):
        Bitfit().dry_prepare(model)
