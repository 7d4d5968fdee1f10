"""Groups of parameters: what decays, what muon orthogonalizes."""

import pytest
import torch

import tiny
from niwaki.core.errors import NiwakiError
from niwaki.models.edits.int8 import Int8
from niwaki.train.optimizer import layer_matrices, make_optimizer
from niwaki.train.settings import TrainSettings


def test_weight_decay_applies_to_matrices_only():
    modules = torch.nn.ModuleDict({"a": torch.nn.Linear(3, 2), "b": torch.nn.LayerNorm(2)})
    decayed, plain = make_optimizer(modules, TrainSettings(weight_decay=0.3)).param_groups
    assert [tuple(p.shape) for p in decayed["params"]] == [(2, 3)] and decayed["weight_decay"] == 0.3
    assert len(plain["params"]) == 3 and plain["weight_decay"] == 0.0
    with pytest.raises(NiwakiError, match="nothing is left to train"):
        make_optimizer(modules.requires_grad_(False), TrainSettings())


def test_muon_moves_the_matrices_of_layers_and_adamw_the_rest():
    model = tiny.model("gpt2", layers=2)
    matrices = list(layer_matrices(model.anatomy))
    assert len(matrices) == 2 * 6 and all(matrix.ndim == 2 for matrix in matrices)
    groups = make_optimizer(model.network, TrainSettings(optimizer="muon"), {}, matrices).param_groups
    moved = [one for group in groups if group["orthogonal"] for one in group["params"]]
    assert {id(one) for one in moved} == {id(one) for one in matrices}
    assert sum(len(group["params"]) for group in groups) == len(list(model.network.parameters()))


def test_packed_matrices_are_left_out():
    model = tiny.model("bert", layers=1)
    model.apply_edit(Int8())
    assert not list(layer_matrices(model.anatomy))
