"""Deltas around the matrices of all families: by role, once for shared matrices, in blueprints."""

import pytest
import torch

import tiny
from models.deltas.tuned import with_delta
from niwaki.core.errors import InputError
from niwaki.models.blueprint import Blueprint
from niwaki.models.deltas._delta import Tuned, tuned_paths
from niwaki.models.edits.add_delta import AddDelta
from niwaki.models.edits.blocks import Blocks
from niwaki.models.forward import forward, run_padded
from niwaki.models.model import load_folder
from niwaki.models.skeleton import CONDITIONAL_GENERATION


@pytest.mark.parametrize("family", tiny.FAMILIES)
def test_every_family_has_the_roles(family, tmp_path):
    model = with_delta("lora", start=tiny.model(family), rank=2)
    batch = tiny.batch(model)
    found = forward(model.anatomy, batch).logits
    torch.testing.assert_close(run_padded(model.anatomy, batch.inputs), found, atol=1e-5, rtol=0)
    model.save(tmp_path)
    again = load_folder(tmp_path)
    assert torch.equal(forward(again.anatomy, batch).logits, found)
    (edit,) = Blueprint.from_json(again.blueprint.to_json()).edits
    assert edit == AddDelta(kind="lora", targets=edit.targets, settings={"rank": 2})


def test_decoders_get_deltas_too_and_shared_layers_one():
    model = tiny.model("bert", layers=2, head=CONDITIONAL_GENERATION)
    model.apply_edit(AddDelta(kind="ia3", targets=["value"]))
    assert len(list(tuned_paths(model.network))) == 2 + 2 * 2  # the decoder's layers have two attentions each
    shared = tiny.model("albert", layers=4)
    shared.apply_edit(AddDelta(kind="ia3", targets=["value"]))
    assert len([module for module in shared.network.modules() if isinstance(module, Tuned)]) == 1


def test_the_seed_decides_the_first_numbers():
    models = [tiny.model("bert") for _ in range(3)]
    for model, seed in zip(models, (1, 1, 2), strict=True):
        model.apply_edit(AddDelta(kind="lora", targets=["key"], settings={"rank": 2}, seed=seed))
    first, same, other = (
        {name: value for name, value in model.network.state_dict().items() if "down" in name} for model in models
    )
    assert all(torch.equal(first[name], same[name]) and not torch.equal(first[name], other[name]) for name in first)
    assert len({float(value.sum()) for value in first.values()}) == 3  # every layer draws its own


def test_removed_blocks_get_no_delta():
    model = tiny.model("bert")
    model.apply_edit(Blocks(attention=[1], ffn=[]))
    model.apply_edit(AddDelta(kind="ia3", targets=["out"]))
    assert [path.split(".")[3] for path in tuned_paths(model.network)] == ["0", "2"]


@pytest.mark.parametrize(
    "edit, family, message",
    [
        (AddDelta(kind="lora", targets=["qurey"]), "bert", "no matrix 'qurey'; this model has query, key, value"),
        (AddDelta(kind="lora", targets=["query"], settings={"rank": 40}), "bert", "choose at most 32"),
        (AddDelta(kind="lora", targets=["query"], settings={"rnk": 4}), "bert", "rnk: unknown key"),
        (AddDelta(kind="loro", targets=["query"]), "bert", "delta 'loro' is not known, did you mean 'lora'"),
        (AddDelta(kind="lora", targets=["query"]), "bilstm", "has no attention layers"),
    ],
)
def test_what_does_not_fit_is_rejected(edit, family, message):
    with pytest.raises(InputError, match=message):
        tiny.model(family).apply_edit(edit)
