"""Tensors under several names: once in a file, under all names in a network."""

import torch
from safetensors.torch import load_file
from torch import nn

import tiny
from niwaki.models.edits.share import Share
from niwaki.models.ties import first_names, unique_tensors, with_tied_names
from niwaki.train.checkpoints import Checkpoints, TrainerState


def pair() -> nn.ModuleDict:
    one = nn.Linear(2, 3)
    return nn.ModuleDict({"a": one, "b": one, "c": nn.Linear(2, 3)})


def test_names_by_hand():
    assert first_names(pair()) == {
        "a.weight": "a.weight",
        "a.bias": "a.bias",
        "b.weight": "a.weight",
        "b.bias": "a.bias",
        "c.weight": "c.weight",
        "c.bias": "c.bias",
    }
    assert list(unique_tensors(pair())) == ["a.weight", "a.bias", "c.weight", "c.bias"]


def test_a_buffer_that_is_shared_counts_once():
    module = nn.ModuleDict({"a": nn.BatchNorm1d(2)})
    module["b"] = module["a"]
    assert set(unique_tensors(module)) == {f"a.{name}" for name in module["a"].state_dict()}


def test_equal_tensors_that_are_not_shared_are_saved_twice():
    module = pair()
    module["c"].load_state_dict(module["a"].state_dict())
    assert "c.weight" in unique_tensors(module)


def test_spelled_out_gives_every_name_and_leaves_what_it_does_not_know():
    module = pair()
    state = {"a.weight": torch.ones(3, 2), "strange": torch.zeros(1)}
    found = with_tied_names(module, state)
    assert found["b.weight"] is found["a.weight"] and "strange" in found and "c.weight" not in found
    module.load_state_dict(with_tied_names(module, unique_tensors(module)), strict=True)


def train(model, optimizer, steps):
    for _ in range(steps):
        optimizer.zero_grad()
        model.network(**tiny.batch(model).inputs).logits.square().sum().backward()
        optimizer.step()


def begun():
    model = tiny.model("bert")
    model.apply_edit(Share(of=[0, 0, 2]))
    modules = nn.ModuleDict({"network": model.network, "helpers": nn.ModuleDict()})
    return model, modules, torch.optim.AdamW(modules.parameters(), lr=1e-3)


def test_the_training_state_of_a_network_that_shares_resumes_to_the_bit(tmp_path):
    whole, _, optimizer = begun()
    train(whole, optimizer, 4)
    model, modules, optimizer = begun()
    train(model, optimizer, 2)
    best = {name: value.clone() for name, value in model.network.state_dict().items()}
    Checkpoints(tmp_path).save(TrainerState(step=2), modules, optimizer, best)
    weights = load_file(tmp_path / "checkpoint-00000002" / "weights.safetensors")
    assert not any(".layer.1.attention.self.query" in name for name in weights)
    other, modules, optimizer = begun()
    position, checkpoint = Checkpoints(tmp_path).load(modules, optimizer)
    assert position.step == 2
    train(other, optimizer, 2)
    assert torch.equal(tiny.logits(other, tiny.batch(other)), tiny.logits(whole, tiny.batch(whole)))
    assert other.anatomy.layers[0].part("query") is other.anatomy.layers[1].part("query")
    other.network.load_state_dict(checkpoint)
    assert torch.equal(other.network.state_dict()["classifier.weight"], best["classifier.weight"])
