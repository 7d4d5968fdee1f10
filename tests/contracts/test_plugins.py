"""A package from outside adds entries of every kind: listed, validated, run, saved, loaded in a new process and exported."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import tiny
from niwaki.core.errors import InputError
from niwaki.models.blueprint import Blueprint
from niwaki.models.model import load_folder
from niwaki.scaffold.kinds import find_kind, kinds
from niwaki.scaffold.package import new_in_package

ENTRIES = {
    "method": "calm",
    "edit": "lose_bias",
    "mixer": "mean_mixer",
    "feed_forward": "gated_unit",
    "reduction": "half_text",
    "head": "linear_head",
    "task": "good_or_bad",
    "objective": "noisy",
    "family": "ernie",
    "engine": "plain_torch",
    "recipe": "garden-1",
}
RECIPE = """\
# A tiny model of the package's family
model = "{model}"
task = "good_or_bad"
quantize = []
baselines = false
race = "short"

[[stages]]
name = "stock"  # the reference of the speed measurement is this model in transformers
train = {{ epochs = 0.5, lr = 1e-3 }}

[[stages]]
name = "calm"
methods = [{{ use = "calm", weight = 0.1 }}]
train = {{ epochs = 1, lr = 1e-3, objective = "noisy" }}
"""
PREPARE = """
    def prepare(self, model: Model, context: Context) -> Model:
        from garden.lose_bias import LoseBias
        from niwaki.models.edits.replace_part import ReplacePart

        model.apply_edit(LoseBias(layers=[0]))
        model.apply_edit(ReplacePart(slot="mixer", part="mean_mixer", layers=[1]))
        model.apply_edit(ReplacePart(slot="feed_forward", part="gated_unit", layers=[1], settings={"ffn_size": 8}))
        model.apply_edit(ReplacePart(slot="reduction", part="half_text", layers=[0]))
        model.apply_edit(ReplacePart(slot="head", part="linear_head"))
        return model
"""
LIST = "import json; from niwaki.listing import rows_of; print(json.dumps({kind: [row['name'] for row in rows_of(kind)] for kind in %r}))"
LOAD = """
import json, sys
from niwaki import api
from niwaki.core.errors import InputError

exported = api.export(sys.argv[1], "onnx", sys.argv[2])
engines = [(sys.argv[1], "plain_torch"), (sys.argv[1], "torch"), (sys.argv[2], "onnx")]
texts = ["a warm film", "a dull book"]
answers = [[answer.probability for answer in api.load(*engine).predict(texts)] for engine in engines]
try:
    api.check("garden-1", overrides=["stages.calm.methods.calm.weight=-1"])
except InputError as error:
    print(json.dumps({"answers": answers, "rejected": str(error)}))
"""


def python(site: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Runs Python in a new process in which the packages of `site` are installed."""
    paths = [str(site), *(path for path in sys.path if path)]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    command = [sys.executable, *map(str, arguments)]
    return subprocess.run(command, cwd=site.parent, env=env, capture_output=True, text=True, check=False)


def niwaki(site: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    return python(site, "-c", "from niwaki.cli import main; main()", *arguments)


def save_ernie(folder: Path) -> Path:
    from transformers import ErnieConfig, ErnieForSequenceClassification

    tokenizer = tiny.tokenizer()
    config = ErnieConfig(
        vocab_size=len(tokenizer),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=24,
        max_position_embeddings=66,
    )
    ErnieForSequenceClassification(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which pip installed a scaffolded package with one entry of every kind."""
    root = tmp_path_factory.mktemp("outside")
    for kind, name in ENTRIES.items():
        new_in_package(kind, name, "garden", root)
    source = root / "garden" / "src" / "garden"
    family = source / "ernie.py"
    family.write_text(family.read_text().replace('"bert', '"ernie'))
    method = source / "calm.py"
    text = method.read_text().replace("\n\n\ndef mean_square", f"\n{PREPARE}\n\ndef mean_square")
    method.write_text(text.replace("ContributesLoss", "ContributesLoss, Reshapes"))
    (source / "recipes" / "garden-1.toml").write_text(RECIPE.format(model=save_ernie(root / "ernie")))
    pip = ["-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation", "--no-index", "--target", root / "site"]
    done = python(root / "site", *pip, root / "garden")
    assert done.returncode == 0, done.stderr
    return root / "site"


@pytest.fixture(scope="module")
def run(site: Path) -> Path:
    """The run folder of the package's recipe."""
    folder = site.parent / "run"
    done = niwaki(site, "run", "garden-1", "--out", folder, "--quiet")
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def model(run: Path) -> Path:
    return next(run.glob("stages/calm-*/model"))


def test_every_kind_is_tested():
    assert set(ENTRIES) == set(kinds())


def test_every_kind_is_listed(site):
    plurals = [find_kind(kind).plural for kind in ENTRIES]
    done = python(site, "-c", LIST % plurals)
    listed = json.loads(done.stdout)
    assert {kind: name in listed[kind] for kind, name in zip(plurals, ENTRIES.values(), strict=True)} == dict.fromkeys(
        plurals, True
    )


def test_the_saved_model_records_the_entries(model):
    assert json.loads((model / "config.json").read_text())["model_type"] == "ernie"
    blueprint = json.loads((model / "blueprint.json").read_text())
    assert [edit["edit"] for edit in blueprint["edits"]] == ["lose_bias", *["replace_part"] * 4]


@pytest.fixture(scope="module")
def in_new_process(site, model, tmp_path_factory):
    done = python(site, "-c", LOAD, model, tmp_path_factory.mktemp("loaded") / "exported")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_model_is_loaded_and_exported_in_a_new_process(in_new_process):
    plugin, torch, onnx = in_new_process["answers"]
    assert plugin == pytest.approx(torch, abs=1e-5) and onnx == pytest.approx(torch, abs=1e-5)


def test_settings_of_the_package_are_validated(in_new_process):
    assert "weight" in in_new_process["rejected"]


def test_without_the_package_the_family_is_named_in_one_line(model):
    with pytest.raises(InputError, match=r"model_type 'ernie' is not supported.*install the package that provides it"):
        load_folder(model)


def test_without_the_package_the_edit_is_named_in_one_line(model):
    with pytest.raises(InputError, match=r"edit 'lose_bias' is not known.*install the package that provides it"):
        Blueprint.from_json(json.loads((model / "blueprint.json").read_text()))
