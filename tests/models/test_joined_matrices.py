"""Linear layers in place of transformers' `Conv1D`: values by hand, and back to the layout of checkpoints."""

from dataclasses import replace

import torch
from torch import nn
from transformers.pytorch_utils import Conv1D

from niwaki.models.families.gpt2 import Gpt2
from niwaki.models.family import StackRules
from niwaki.models.joined_matrices import SideBySide, join_matrices, split_matrices

PATHS = replace(
    Gpt2.layer,
    query="both.one",
    key="both.two",
    value="both.three",
    stack=StackRules(transposed=("both", "alone"), fused=("both",)),
)


def network():
    torch.manual_seed(0)
    found = nn.ModuleDict(
        {"layer": nn.ModuleDict({"both": Conv1D(6, 4), "alone": Conv1D(2, 3)}), "norm": nn.LayerNorm(3)}
    )
    for parameter in found.parameters():
        nn.init.normal_(parameter)
    return found


def test_outputs_stay_and_parts_are_linear_layers_of_their_own():
    given, rows = network(), torch.randn(5, 4)
    wanted, alone = given["layer"]["both"](rows), given["layer"]["alone"](rows[:, :3])
    weight = given["layer"]["both"].weight.detach().clone()
    split_matrices(given, PATHS)
    both = given["layer"]["both"]
    assert isinstance(both, SideBySide) and type(both.one) is type(given["layer"]["alone"]) is nn.Linear
    assert torch.equal(both.three.weight, weight[:, 4:].T)
    torch.testing.assert_close(both(rows), wanted)
    torch.testing.assert_close(given["layer"]["alone"](rows[:, :3]), alone)


def test_published_tensors_are_those_that_were_there_before():
    given = network()
    wanted = {name: value.clone() for name, value in given.state_dict().items()}
    split_matrices(given, PATHS)
    found = join_matrices(given.state_dict(), PATHS)
    assert found.keys() == wanted.keys()
    for name, value in wanted.items():
        assert torch.equal(found[name], value) and found[name].is_contiguous(), name
