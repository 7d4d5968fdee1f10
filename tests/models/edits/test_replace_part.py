"""A mixer, a feed-forward block and a head from an installed package, put into some layers of every family."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

import tiny
from niwaki.core.errors import InputError
from niwaki.core.plugins import installed_plugins
from niwaki.engines.export import write_graph
from niwaki.engines.native.translate import translate
from niwaki.engines.predictor import Predictor
from niwaki.engines.runtimes.onnx import Onnx
from niwaki.evaluate.reference import Reference
from niwaki.models.edits.hidden_size import HiddenSize
from niwaki.models.edits.int8 import Int8
from niwaki.models.edits.replace_part import ReplacePart
from niwaki.models.forward import forward, run_padded
from niwaki.models.record import HIDDEN, SCORES

MEAN = '''"""Mean of the sequence's rows, through one matrix."""

from torch import nn

from niwaki.models.parts.mixers._mixer import Mixer


class Mean(Mixer, nn.Module):
    from_hidden = ("out",)
    to_hidden = ("out",)

    def __init__(self, hidden_size, settings):
        super().__init__()
        self.out = nn.Linear(hidden_size, hidden_size)

    def forward(self, rows, layout, record):
        mask = layout.mask[..., None].to(rows.dtype)
        padded = layout.unpack(rows)
        mean = (padded * mask).sum(1, keepdim=True) / mask.sum(1, keepdim=True)
        return layout.pack(self.out(mean).expand_as(padded)) + rows
'''
GATED = '''"""Gated linear unit (Shazeer 2020)."""

import torch
from torch import nn

from niwaki.core.settings import Settings, setting
from niwaki.models.parts.feed_forwards._feed_forward import FeedForward


class Sizes(Settings):
    ffn_size: int = setting(16, "neurons", ge=1)


class Gated(FeedForward, nn.Module):
    settings = Sizes
    from_hidden = ("gate", "up")
    to_hidden = ("down",)

    def __init__(self, hidden_size, settings):
        super().__init__()
        self.gate, self.up = (nn.Linear(hidden_size, settings.ffn_size) for _ in range(2))
        self.down = nn.Linear(settings.ffn_size, hidden_size)

    def forward(self, rows):
        return self.down(torch.sigmoid(self.gate(rows)) * self.up(rows))
'''
LINEAR = '''"""One matrix on the first token."""

from torch import nn

from niwaki.models.parts.heads._head import TaskHead


class Linear(TaskHead, nn.Module):
    architecture = "SequenceClassification"
    from_hidden = ("matrix",)

    def __init__(self, hidden_size, labels, settings):
        nn.Module.__init__(self)
        self.matrix = nn.Linear(hidden_size, labels)

    def forward(self, hidden):
        return self.matrix(hidden[:, 0])
'''
POINTS = """[niwaki.mixers]
mean = outside_parts.mean
[niwaki.feed_forwards]
gated_tanh = outside_parts.gated_tanh
[niwaki.heads]
linear = outside_parts.linear
"""
LOADER = """
import sys, numpy, torch
from pathlib import Path
from niwaki.models.forward import run
from niwaki.models.model import load_folder
for folder in map(Path, sys.argv[1:]):
    inputs = {name: torch.from_numpy(value) for name, value in numpy.load(folder / "inputs.npz").items()}
    with torch.no_grad():
        numpy.save(folder / "again.npy", run(load_folder(folder).anatomy, inputs, {}).numpy())
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A package as pip lays it out: modules next to a dist-info folder."""
    site = tmp_path_factory.mktemp("site")
    (site / "outside_parts").mkdir()
    for name, text in {"__init__": "", "mean": MEAN, "gated_tanh": GATED, "linear": LINEAR}.items():
        (site / "outside_parts" / f"{name}.py").write_text(text)
    info = site / "outside_parts-1.5.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: outside_parts\nVersion: 1.5\n")
    (info / "entry_points.txt").write_text(POINTS)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(site))
        installed_plugins.cache_clear()
        yield site
    installed_plugins.cache_clear()


EDITS = (
    ReplacePart(slot="mixer", part="mean", layers=[0]),
    ReplacePart(slot="feed_forward", part="gated_tanh", layers=[0], settings={"ffn_size": 24}),
    ReplacePart(slot="head", part="linear"),
)


def replaced(family: str):
    model = tiny.model(family)
    for edit in EDITS:
        model.apply_edit(edit)
    return model


@pytest.fixture(scope="module")
def saved(site, tmp_path_factory):
    """For each family a model with other parts after a step of training, its batch and folder; one new process loads them all."""
    home, models = tmp_path_factory.mktemp("parts"), {}
    for family in tiny.SIZED:
        folder = home / family
        folder.mkdir()
        models[family] = model, batch, _ = trained(family), tiny.batch(replaced(family)), folder
        model.save(folder)
        write_graph(model, folder)
        np.savez(folder / "inputs.npz", **{name: value.numpy() for name, value in batch.inputs.items()})
    folders = [str(folder) for _, _, folder in models.values()]
    path = os.pathsep.join([str(site), *sys.path])
    subprocess.run([sys.executable, "-c", LOADER, *folders], check=True, env={**os.environ, "PYTHONPATH": path})
    return models


def trained(family: str):
    """One step; every matrix of the new mixer changes."""
    model = replaced(family)
    before = {name: value.clone() for name, value in model.network.state_dict().items()}
    optimizer, batch = torch.optim.SGD(model.network.parameters(), lr=0.1), tiny.batch(model)
    torch.nn.functional.cross_entropy(forward(model.anatomy, batch).logits, batch.targets).backward()
    optimizer.step()
    after = model.network.state_dict()
    changed = [path for path in model.anatomy.matrices() if "mixer" in path]
    assert changed and all(not torch.equal(before[f"{path}.weight"], after[f"{path}.weight"]) for path in changed)
    model.network.eval()
    return model


@pytest.mark.parametrize("family", tiny.SIZED)
def test_a_model_with_other_parts_trains_saves_loads_and_exports(saved, family):
    model, batch, folder = saved[family]
    assert [edit.label() for edit in model.blueprint.edits] == ["replace_part"] * 3
    assert {path.rpartition(".")[2] for path in model.anatomy.matrices()} >= {"gate", "up", "down"}
    with torch.no_grad():
        logits = forward(model.anatomy, batch).logits.numpy()
        padded = run_padded(model.anatomy, batch.inputs).numpy()
    assert np.array_equal(np.load(folder / "again.npy"), logits)
    np.testing.assert_allclose(padded, logits, atol=1e-5)
    arrays = {name: value.numpy() for name, value in batch.inputs.items()}
    np.testing.assert_allclose(Onnx(folder, 1).logits(arrays), logits, atol=1e-5)


def test_the_reference_runs_other_parts(site, tmp_path):
    """transformers' forward pass would ignore the new head, and call the new mixer with its own arguments."""
    replaced("bert").save(tmp_path)
    reference, texts = Reference(tmp_path, 50), [text for text, _ in tiny.sentences(8)]
    assert not reference.is_in_transformers and reference.description.startswith("torch")
    assert reference.values(texts) == Predictor(tmp_path, "torch", max_tokens=50).values(texts)


def test_other_parts_are_cut_and_packed_by_their_roles(site, tmp_path: Path):
    model = replaced("bert")
    model.apply_edit(HiddenSize(keep=list(range(24))))
    layer = model.anatomy.layers[0]
    assert layer.part("mixer.out").out_features == layer.part("feed_forward.gate").in_features == 24
    assert model.anatomy.head.matrix.in_features == 24
    model.apply_edit(Int8())
    batch = tiny.batch(model)
    with torch.no_grad():
        assert torch.isfinite(forward(model.anatomy, batch).logits).all()
    assert len(model.anatomy.attentions) == len(model.anatomy.blocks) == 2  # of three layers


def test_activations_that_a_mixer_lacks_are_rejected(site):
    model = replaced("bert")
    batch = tiny.batch(model)
    assert len(forward(model.anatomy, batch, frozenset({HIDDEN})).hidden) == 4
    with pytest.raises(InputError, match="layer 0: mixer 'mean' has no scores"):
        forward(model.anatomy, batch, frozenset({SCORES}))


def test_a_part_without_a_native_translation_is_named(site):
    model = replaced("bert")
    with pytest.raises(InputError, match="native engine: head 'linear' has no translation; use engine 'onnx'"):
        translate(model.network, model.anatomy)


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (ReplacePart(slot="mixer", part="attention", layers=[0]), "made of a family's modules"),
        (ReplacePart(slot="mixer", part="men", layers=[0]), "mixer 'men' is not known, did you mean 'mean'"),
        (ReplacePart(slot="mixer", part="mean", layers=[7]), "replace_part: layers"),
        (ReplacePart(slot="feed_forward", part="gated_tanh", layers=[0], settings={"size": 1}), "unknown key"),
    ],
)
def test_an_impossible_replacement_is_rejected(site, edit, message):
    with pytest.raises(InputError, match=message):
        tiny.model("bert").apply_edit(edit)
