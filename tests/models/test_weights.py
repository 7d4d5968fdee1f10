"""Weights are checked without being loaded, and whatever loading rejects the check rejects."""

import json
import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

import tiny
from niwaki.core.errors import InputError
from niwaki.models import weights
from niwaki.models.edits.heads import Heads
from niwaki.models.model import load_folder
from niwaki.models.stock import WEIGHTS
from niwaki.models.weights import check_weights

MATRIX = "encoder.layer.1.output.dense.weight"


@pytest.fixture(params=["stock", "edited"])
def folder(request, tmp_path) -> Path:
    model = tiny.model("bert")
    if request.param == "edited":
        model.apply_edit(Heads(keep=[[0], [1], [0]]))
    model.save(tmp_path)
    return tmp_path


def change(folder, edit) -> None:
    tensors = load_file(folder / WEIGHTS)
    edit(tensors, next(name for name in tensors if name.endswith(MATRIX)))
    save_file(tensors, folder / WEIGHTS, metadata={"format": "pt"})


EDITS = {
    "missing": lambda tensors, name: tensors.pop(name),
    "another shape": lambda tensors, name: tensors.update({name: tensors[name][:, :-1].contiguous()}),
    "turned": lambda tensors, name: tensors.update({name: tensors[name].T.contiguous()}),
    "NaN": lambda tensors, name: tensors[name].view(-1)[3:4].fill_(float("nan")),
    "infinite": lambda tensors, name: tensors[name].view(-1)[-1:].fill_(float("inf")),
    "renamed": lambda tensors, name: tensors.update({f"{name}x": tensors.pop(name)}),
}


def test_sound_weights_pass_without_being_loaded(folder, monkeypatch):
    monkeypatch.setattr("safetensors.torch.load_file", None)
    check_weights(folder)


@pytest.mark.parametrize("edit", EDITS)
def test_broken_weights_are_rejected(folder, edit):
    change(folder, EDITS[edit])
    with pytest.raises(InputError, match=r"model\.safetensors: ") as caught:
        check_weights(folder)
    assert len(caught.value.faults) == 1
    if edit not in ("NaN", "infinite"):
        with pytest.raises(InputError):
            load_folder(folder)


@pytest.mark.parametrize("keep", [0, 7, 100, 1000, -1000, -1])
def test_a_file_that_is_cut_short_is_rejected(folder, keep):
    content = (folder / WEIGHTS).read_bytes()
    (folder / WEIGHTS).write_bytes(content[:keep])
    with pytest.raises(InputError, match=r"model\.safetensors: cannot be read"):
        check_weights(folder)


def test_weights_of_another_config_are_rejected(folder):
    for key, value in (("num_hidden_layers", 4), ("intermediate_size", 60), ("vocab_size", 999)):
        copy = folder.parent / f"{folder.name}-{key}"
        shutil.copytree(folder, copy)
        name = "blueprint.json" if (copy / "blueprint.json").exists() else "config.json"
        config = json.loads((copy / name).read_text())
        config.get("base", config)[key] = value
        (copy / name).write_text(json.dumps(config))
        with pytest.raises(InputError):
            check_weights(copy)


def test_a_bare_encoder_may_lack_its_head(tmp_path):
    tiny.model("bert").save(tmp_path)
    tensors = {name: value for name, value in load_file(tmp_path / WEIGHTS).items() if name.startswith("bert.")}
    save_file({name.removeprefix("bert."): value for name, value in tensors.items()}, tmp_path / WEIGHTS)
    check_weights(tmp_path)


@pytest.mark.parametrize("family", [*tiny.FAMILIES, *tiny.IMAGES])
def test_every_family_passes(tmp_path, family):
    tiny.model(family).save(tmp_path)
    check_weights(tmp_path)


def test_every_type_of_the_format_is_known():
    from niwaki.core.tensor_file import BYTES

    assert weights.TYPES.keys() == BYTES.keys()
    assert all(torch.empty(1, dtype=kind).element_size() == BYTES[name] for name, kind in weights.TYPES.items())
