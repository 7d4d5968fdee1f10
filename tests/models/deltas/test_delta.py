"""What all deltas have in common: names, merging, cutting, packed matrices."""

import pytest
import torch
from torch import nn

import tiny
from models.deltas.tuned import ALL, drawn, with_delta
from niwaki.core.errors import InputError
from niwaki.models.deltas._delta import DELTAS, Delta, Tuned, merged, tuned_paths, without_deltas
from niwaki.models.edits.ffn import Ffn
from niwaki.models.edits.heads import Heads
from niwaki.models.edits.hidden_size import HiddenSize
from niwaki.models.edits.int8 import Int8
from niwaki.models.edits.low_bit import LowBit
from niwaki.models.forward import forward
from niwaki.models.packed.int8 import Int8Linear
from niwaki.models.trunk import is_of_delta, trunk_name

KINDS = DELTAS.names()


def logits(model):
    with torch.no_grad():
        return forward(model.anatomy, tiny.batch(model)).logits


def new(kind: str, inputs: int = 6, outputs: int = 4) -> Delta:
    base = DELTAS.load(kind, Delta)
    return base(inputs, outputs, base.settings(**({"rank": 2} if kind == "lora" else {})))


@pytest.mark.parametrize("kind", KINDS)
def test_a_new_delta_changes_no_bit(kind):
    model = tiny.model("bert")
    before = logits(model)
    assert torch.equal(logits(with_new(kind, model)), before)


def with_new(kind, model):
    from niwaki.models.edits.add_delta import AddDelta

    model.apply_edit(AddDelta(kind=kind, targets=ALL))
    return model


@pytest.mark.parametrize("kind", KINDS)
@torch.no_grad()
def test_a_cut_matrix_with_a_delta_gives_the_chosen_outputs(kind):
    torch.manual_seed(0)
    whole = Tuned(nn.Linear(6, 4), new(kind))
    for parameter in whole.delta.parameters():
        nn.init.normal_(parameter)
    x = torch.randn(3, 6)
    x[:, [0, 4]] = 0.0
    wanted, outputs, inputs = whole(x), [3, 1], [1, 2, 3, 5]
    from niwaki.models.slicing import cut_linear

    if kind == "adapter":  # it reads all outputs: switch off those that will be cut
        for row in (0, 2):
            whole.base.weight[row] = 0.0
            whole.base.bias[row] = 0.0
        wanted = whole(x)
    found = cut_linear(whole, outputs, inputs)
    assert (found.in_features, found.out_features) == (4, 2)
    torch.testing.assert_close(found(x[:, inputs]), wanted[:, outputs])


@pytest.mark.parametrize("kind", KINDS)
def test_pruning_and_packing_go_through_a_delta(kind, tmp_path):
    model = with_delta(kind)
    for edit in (
        Heads(keep=[[0, 2], [1], [3]]),
        Ffn(keep=[9, 30, 64]),
        HiddenSize(keep=list(range(28))),
        Int8(),
    ):
        model.apply_edit(edit)
    deltas = [name for name in model.network.state_dict() if is_of_delta(name)]
    assert deltas and isinstance(model.network.get_submodule("bert.encoder.layer.0.output.dense.base"), Int8Linear)
    model.save(tmp_path)
    from niwaki.models.model import load_folder

    assert torch.equal(logits(load_folder(tmp_path)), logits(model))


def test_names_tell_deltas_from_the_trunk():
    model, plain = with_delta("lora", ["query"], with_delta("ia3", ["query"])), tiny.model("bert")
    names = model.network.state_dict()
    own = {name for name in names if is_of_delta(name)}
    assert {trunk_name(name) for name in names.keys() - own} == plain.network.state_dict().keys()
    path = "bert.encoder.layer.0.attention.self.query"
    assert {f"{path}.base.delta.gain", f"{path}.delta.up.weight"} < own
    assert without_deltas(model.network, path) == f"{path}.base.base"
    assert list(tuned_paths(model.network)) == [f"bert.encoder.layer.{n}.attention.self.query" for n in range(3)]


def test_merging_leaves_what_is_not_linear():
    both = Tuned(Tuned(nn.Linear(6, 4), new("lora")), new("adapter"))
    found = merged(both)
    assert isinstance(found, Tuned) and isinstance(found.base, nn.Linear) and found.delta is both.delta
    x = torch.randn(2, 6)
    torch.testing.assert_close(found(x), both(x))
    with pytest.raises(InputError, match="adapter: is not linear"):
        found.to_dense()


@pytest.mark.parametrize("pack", [Int8(), LowBit(base=16, group=16)], ids=["int8", "low_bit"])
@pytest.mark.parametrize("kind", KINDS)
def test_gradients_pass_through_packed_weights(kind, pack):
    """As in QLoRA: compared with the same matrices as floats."""
    packed, floats = tiny.model("bert"), tiny.model("bert")
    packed.apply_edit(pack)
    for path in list(packed.anatomy.matrices()):
        dense = packed.network.get_submodule(path).to_dense()
        floats.network.set_submodule(path, dense)
    for path in ("word_embeddings", "position_embeddings", "token_type_embeddings"):
        table = packed.network.bert.embeddings.get_submodule(path)
        dense = table if isinstance(table, nn.Embedding) else table.to_dense()
        floats.network.bert.embeddings.set_submodule(path, dense)
    gradients = []
    for model in (packed, floats):
        with_new(kind, model)
        drawn(model)
        forward(model.anatomy, tiny.batch(model)).logits.square().sum().backward()
        gradients.append({n: p.grad for n, p in model.network.named_parameters() if is_of_delta(n)})
    assert gradients[0].keys() == gradients[1].keys()
    for name, gradient in gradients[0].items():
        torch.testing.assert_close(gradient, gradients[1][name], atol=1e-4, rtol=1e-3)
