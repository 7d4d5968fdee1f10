"""Random chains of conversions, cuts and packing: each is rejected with a reason, or saved, loaded in a new process and exported with equal outputs."""

import random
from pathlib import Path

import numpy as np
import pytest

import new_process
import tiny
from converted import check_saved_and_exported, outputs, text_batch
from niwaki.core.errors import InputError
from niwaki.methods import METHODS
from niwaki.methods._method import Method
from niwaki.models.edit import Edit
from niwaki.models.edits.ffn import Ffn
from niwaki.models.edits.heads import Heads
from niwaki.models.edits.hidden_size import HiddenSize
from niwaki.models.edits.int8 import Int8
from niwaki.models.edits.layers import Layers
from niwaki.models.model import Model

FAMILIES = ("bert", "mpnet", "distilbert", "roberta", "albert", "electra")
CONVERSIONS = [name for name in METHODS.names() if METHODS.module(name).__name__.split(".")[-2] == "convert"]
SMALL = {
    "window": ("window", "dilation"),
    "extend_positions": (),
    "linear_mixing": ("attention_layers",),
    "fourier": ("attention_layers",),
}  # settings that are drawn, from 1 to 3
FIXED = {
    "extend_positions": {"tokens": 90},
    "token_dropping": {"min_tokens": 2},
    "moefication": {"experts": 3},
    "moebert": {"experts": 3},
    "sparse_upcycling": {"experts": 3},
}
LOAD = """
import sys
import numpy as np, torch
from pathlib import Path
from niwaki.engines.runtimes.onnx import Onnx
from niwaki.models.forward import run
from niwaki.models.model import load_folder

for folder in map(Path, sys.argv[1:]):
    with np.load(folder / "case.npz") as case:
        arrays = {name: case[name] for name in case.files if name != "wanted"}
        wanted = case["wanted"]
    with torch.no_grad():
        found = run(load_folder(folder).anatomy, {name: torch.from_numpy(one) for name, one in arrays.items()}, {})
    assert np.array_equal(found.numpy(), wanted), folder
    assert np.abs(Onnx(folder, 1).logits(arrays) - wanted).max() < 0.3, folder
"""


def converted(model: Model, name: str, draw: random.Random) -> None:
    """A conversion of some layers, with random settings. Weights of new routers stay random."""
    settings = {**FIXED.get(name, {}), **{key: draw.randint(1, 3) for key in SMALL.get(name, ())}}
    kind = METHODS.load(name, Method)
    if "layers" in kind.model_fields and draw.random() < 0.7:
        count = len(model.anatomy.layers)
        settings["layers"] = sorted(draw.sample(range(count), draw.randint(1, min(2, count))))
    kind(**settings).dry_prepare(model)  # type: ignore[attr-defined]


def cut(model: Model, draw: random.Random) -> Edit:
    anatomy = model.anatomy
    choices = [
        Heads(keep=[draw.randint(1, layer.heads) for layer in anatomy.attentions]),
        Ffn(keep=[draw.randint(1, block.ffn_size) for block in anatomy.blocks]),
        HiddenSize(keep=sorted(draw.sample(range(anatomy.hidden_size), anatomy.hidden_size - draw.randint(1, 3)))),
        Layers(keep=max(1, len(anatomy.order) - 1)),
        Int8(),
    ]
    return draw.choice(choices)


def chain(seed: int) -> tuple[Model, list[str]]:
    """A model after two to five random steps, and their names. A rejected step is left out and changes nothing."""
    draw = random.Random(seed)
    model, done = tiny.model(draw.choice(FAMILIES), layers=4, seed=seed), []
    for _ in range(draw.randint(2, 5)):
        tried = model.clone()
        try:
            if draw.random() < 0.6:
                converted(tried, name := draw.choice(CONVERSIONS), draw)
            else:
                tried.apply_edit(edit := cut(tried, draw))
                name = edit.label()
        except InputError as error:
            assert len(str(error)) > 20
            continue
        model = tried
        done.append(name)
    return model, done


@pytest.mark.parametrize("seed", range(3))
def test_a_random_chain_is_saved_and_exported(seed, tmp_path):
    model, done = chain(seed)
    assert done
    check_saved_and_exported(model, tmp_path, atol=0.3)


@pytest.mark.slow
def test_random_chains_load_in_a_new_process_and_export(tmp_path):
    folders: list[Path] = []
    used: set[str] = set()
    for seed in range(200):
        model, done = chain(1000 + seed)
        used.update(done)
        folder = tmp_path / f"{seed} {'-'.join(done)}"
        tiny.with_graphs(model, folder)
        batch = text_batch(model, random.Random(seed).randint(1, 60))
        arrays = {name: value.numpy() for name, value in batch.inputs.items()}
        np.savez(folder / "case.npz", wanted=outputs(model, batch).numpy(), **arrays)
        folders.append(folder)
    assert set(CONVERSIONS) <= used
    for first in range(0, len(folders), 25):
        new_process.run(LOAD, *folders[first : first + 25])
