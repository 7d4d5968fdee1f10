"""Networks on the meta device: no values, no initialization."""

import torch
from torch import nn
from torch.nn import init

import tiny
from niwaki.models.meta_device import on_meta_device, without_meta_initialization
from niwaki.models.skeleton import build


def test_a_network_on_the_meta_device_has_the_shapes_and_ties_of_one_in_memory():
    config = tiny.config("bert", 2, 32, 4, 64, tiny.LABELS, "SequenceClassification")
    with on_meta_device():
        skeleton = build(config)
    assert all(value.is_meta for value in skeleton.state_dict().values())
    shapes = [{name: value.shape for name, value in one.state_dict().items()} for one in (skeleton, build(config))]
    assert shapes[0] == shapes[1]


def test_meta_tensors_are_not_initialized(monkeypatch):
    calls = []
    original = init.kaiming_uniform_
    monkeypatch.setattr(init, "kaiming_uniform_", lambda *given, **more: calls.append(1) or original(*given, **more))
    with on_meta_device():
        nn.Linear(2, 3)
    assert not calls
    nn.Linear(2, 3)
    assert calls


def test_other_tensors_are_initialized_as_ever():
    with without_meta_initialization():
        torch.manual_seed(0)
        inside = nn.Linear(4, 4).weight
    torch.manual_seed(0)
    assert torch.equal(inside, nn.Linear(4, 4).weight)


def test_the_functions_are_restored_after_an_error():
    before = dict(vars(init))
    try:
        with without_meta_initialization():
            assert init.normal_ is not before["normal_"]
            raise KeyError
    except KeyError:
        pass
    assert dict(vars(init)) == before
