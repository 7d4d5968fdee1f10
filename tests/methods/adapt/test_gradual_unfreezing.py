"""Layers that are unfrozen from the head down."""

import pytest
import torch

import tiny
from calibrated import CONTEXT
from niwaki.core.errors import InputError
from niwaki.methods.adapt.gradual_unfreezing import GradualUnfreezing, trained_from
from niwaki.methods.adapt.layerwise_lr import LayerwiseLr
from niwaki.train.learning_rates import lr_factor, lr_scales
from niwaki.train.loop import make_optimizer, schedule
from niwaki.train.settings import TrainSettings


def trained(model, method, progress):
    """Names of the parameters that are trained at a progress."""
    scales = method.lr_scales(model)
    return {name for name, _ in model.network.named_parameters() if name not in scales or scales[name](progress)}


@pytest.mark.parametrize("family, where", [("bert", ".layer."), ("lstm_lm", ".lstm.")])
def test_layers_follow_one_another_from_the_head_down(family, where):
    """Three layers and the embeddings: unfrozen at 0.15, 0.3, 0.45 and 0.6."""
    model, method = tiny.model(family, layers=3), GradualUnfreezing(until=0.6)
    seen = []
    for progress in (0.0, 0.149, 0.15, 0.31, 0.46, 0.6):
        names = trained(model, method, progress)
        layers = [number for number in range(3) if any(f"{where}{number}." in name for name in names)]
        seen.append((layers, any("word_embeddings" in name for name in names)))
        assert any(name.startswith("classifier") for name in names)
    assert seen == [([], False), ([], False), ([2], False), ([1, 2], False), ([0, 1, 2], False), ([0, 1, 2], True)]


def test_both_stacks_of_a_bidirectional_network_are_unfrozen_together():
    model, method = tiny.model("bilstm_lm", layers=2), GradualUnfreezing(until=0.9)
    names = trained(model, method, 0.3)
    assert [number for number in range(4) if any(f".lstm.{number}." in name for name in names)] == [1, 3]


def test_frozen_weights_keep_their_bits_and_factors_are_multiplied():
    model = tiny.model("lstm_lm", layers=2)
    methods = [GradualUnfreezing(until=0.6), LayerwiseLr(decay=0.5)]
    scales = lr_scales(methods, model)
    optimizer = make_optimizer(model.network, TrainSettings(lr=0.1), scales)
    before = {name: value.clone() for name, value in model.network.state_dict().items()}
    for group in optimizer.param_groups:
        group["lr"] = 0.1 * lr_factor(group["lr_scales"], 0.25)  # the last layer alone is unfrozen
    for parameter in model.network.parameters():
        parameter.grad = torch.ones_like(parameter)
    optimizer.step()
    after = model.network.state_dict()
    changed = {name for name in before if not torch.equal(before[name], after[name])}
    assert changed == {name for name in before if name.startswith(("body.lstm.1.", "hidden.", "classifier."))}
    moved = {name: (before[name] - after[name]).abs().median().item() for name in changed}
    assert moved["body.lstm.1.bias"] == pytest.approx(0.5 * moved["classifier.bias"], rel=1e-3)


def test_a_factor_is_one_from_the_start_on():
    assert [trained_from(0.5)(progress) for progress in (0, 0.49, 0.5, 1)] == [0, 0, 1, 1]


def test_a_network_that_stacks_nothing_is_rejected():
    with pytest.raises(InputError, match="gradual_unfreezing: a model of family 'averaging' has no layers"):
        GradualUnfreezing().prepare(tiny.model("averaging"), CONTEXT)


def test_the_schedule_is_the_slanted_triangle_of_the_paper_up_to_its_floor():
    """Howard and Ruder 2018, equation 3, with a floor of 1/32 of the highest rate."""
    total, cut_share, ratio = 400, 0.1, 32
    cut = int(total * cut_share)
    for step in range(total):
        p = step / cut if step < cut else 1 - (step - cut) / (cut * (1 / cut_share - 1))
        wanted = (1 + p * (ratio - 1)) / ratio
        assert schedule(step, total, cut_share) == pytest.approx(wanted, abs=1 / ratio + 1e-9)
