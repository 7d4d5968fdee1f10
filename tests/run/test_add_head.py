"""Further heads on one trunk: equal to separate models, small on disk, and rejected where trunk, files or names are wrong."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

import new_process
import niwaki
import tiny
from engines.kinds import INPUTS, KINDS, model_of, saved
from niwaki.cli._app import run
from niwaki.core.errors import InputError
from niwaki.core.files import commit_folder, folder_bytes
from niwaki.core.head_folder import head_names
from niwaki.engines.engine_choice import usable_engines
from niwaki.engines.predictor import Predictor
from niwaki.methods._method import Context
from niwaki.methods.adapt.freeze import Freeze
from niwaki.models.edits.int8 import Int8
from niwaki.models.forward import forward
from niwaki.models.model import Model, load_folder
from niwaki.models.trunk import is_of_head
from niwaki.run.add_head import add_head
from niwaki.run.export import export

HEADS = {"number": "score", "tags": "ner", "span": "qa", "senses": "wsd", "labels": "topics"}  # answer type to name
FAMILIES = ("bert", "roberta", "albert", "distilbert", "electra", "mpnet")
LOAD = """
import json, sys, numpy, niwaki
out, engine, inputs, *folders = sys.argv[1:]
logits = {}
for entry in folders:
    family, folder, names = entry.split("=")
    for name in names.split(","):
        model = niwaki.load(folder, engine, 1, head=name)
        logits[f"{family} {name}"] = model.logits(model.tokenize(json.loads(inputs)[name]))
numpy.savez(out, **logits)
assert engine == "torch" or "torch" not in sys.modules, "torch was imported"
"""
IN_NEW_PROCESS = {
    "score": ["a film", "a dull plot"],
    "ner": [["a", "film"], ["dull"]],
    "qa": [["was it good", "the film was good"]],
    "topics": ["a film"],
}


def on_trunk_of(root: Model, kind: str, family: str, **more: object) -> Model:
    """A model with another head on the same trunk, as training with a frozen trunk leaves it."""
    model = model_of(kind, family, seed=6, **more)
    body, theirs = root.anatomy.family.body, root.network.state_dict()
    trunk = {name: theirs[name] for name in model.network.state_dict() if not is_of_head(name, body)}
    model.network.load_state_dict(trunk, strict=False)
    return model


@pytest.fixture(scope="module")
def all_shared(tmp_path_factory):
    """By family, a model folder with further heads, and the folders of the separate models by answer type."""
    home = tmp_path_factory.mktemp("shared")
    return {family: with_heads(family, home / family) for family in FAMILIES}


def with_heads(family: str, home: Path) -> tuple[Path, dict[str, Path]]:
    home.mkdir()
    root = model_of("label", family)
    folder = saved(root, home / "trunk")
    kinds = list(HEADS) if family == "bert" else ["number", "tags", "span"]
    sources = {kind: saved(on_trunk_of(root, kind, family), home / kind) for kind in kinds}
    for kind, source in sources.items():
        add_head(folder, source, HEADS[kind])
    return folder, sources


@pytest.fixture(params=FAMILIES)
def shared(request, all_shared):
    return all_shared[request.param]


@pytest.mark.parametrize("engine", ["torch", "onnx"])
def test_every_head_answers_exactly_as_its_separate_model(shared, engine):
    folder, sources = shared
    for kind, source in sources.items():
        ours, theirs = niwaki.load(folder, engine, head=HEADS[kind]), Predictor(source, engine)
        assert np.array_equal(ours.logits(ours.tokenize(INPUTS[kind])), theirs.logits(theirs.tokenize(INPUTS[kind])))
        assert ours.values(INPUTS[kind]) == theirs.values(INPUTS[kind])
        assert ours.answer_type.to_json() == theirs.answer_type.to_json() and ours.labels == KINDS[kind][1]


@pytest.mark.parametrize("engine", ["torch", "onnx"])
def test_heads_load_in_a_new_process(all_shared, engine, tmp_path):
    names = {family: [HEADS[kind] for kind in sources] for family, (_, sources) in all_shared.items()}
    names = {family: [name for name in found if name in IN_NEW_PROCESS] for family, found in names.items()}
    folders = [f"{family}={all_shared[family][0]}={','.join(found)}" for family, found in names.items()]
    words = [str(tmp_path / "logits.npz"), engine, json.dumps(IN_NEW_PROCESS), *folders]
    if engine == "torch":
        new_process.run(LOAD, *words)
    else:  # without torch
        subprocess.run([sys.executable, "-c", LOAD, *words], check=True, timeout=300)
    found = np.load(tmp_path / "logits.npz")
    assert len(found.files) == sum(map(len, names.values())) == 4 + 5 * 3
    for family, (_, sources) in all_shared.items():
        for kind, source in sources.items():
            if (name := HEADS[kind]) in names[family]:
                model = Predictor(source, engine, threads=1)
                expected = model.logits(model.tokenize(IN_NEW_PROCESS[name]))
                assert np.array_equal(found[f"{family} {name}"], expected), f"{family}: head '{name}'"


def test_the_model_folder_keeps_its_own_head(shared):
    folder, sources = shared
    assert Predictor(folder, "onnx").labels == KINDS["label"][1]
    assert head_names(folder) == sorted(HEADS[kind] for kind in sources)


def test_heads_cost_only_their_own_tensors(shared):
    """Next to its tensors a head has a graph without weights, a config and files of its answer type."""
    folder, sources = shared
    network = load_folder(folder)
    body = network.anatomy.family.body
    trunk = {name for name in network.network.state_dict() if not is_of_head(name, body)}
    for kind, source in sources.items():
        home = folder / "heads" / HEADS[kind]
        state = load_folder(source).network.state_dict()
        expected = sum(value.nbytes for name, value in state.items() if name not in trunk)
        assert (home / "head.safetensors").stat().st_size < expected + 1500
        assert (home / "model.onnx").stat().st_size <= (source / "model.onnx").stat().st_size + 2000
        assert folder_bytes(home) < folder_bytes(source) / 2 or kind == "senses"


def test_a_head_exports_to_a_model_of_its_own(tmp_path):
    root = model_of("label")
    folder = saved(root, tmp_path / "trunk")
    add_head(folder, saved(on_trunk_of(root, "labels", "bert"), tmp_path / "labels"), "topics")
    export(folder / "heads" / "topics", "onnx", tmp_path / "out", "float", None, 0.0)
    ours, theirs = Predictor(tmp_path / "out", "onnx"), Predictor(folder / "heads" / "topics", "onnx")
    assert ours.values(INPUTS["labels"]) == theirs.values(INPUTS["labels"])


def test_heads_share_a_quantized_trunk(tmp_path):
    root = model_of("number")
    source = on_trunk_of(root, "number", "bert", mean=2.0)
    for model in (root, source):
        model.apply_edit(Int8())
    folder, separate = saved(root, tmp_path / "trunk"), saved(source, tmp_path / "source")
    add_head(folder, separate, "other")
    for engine in ("torch", "onnx"):
        ours, theirs = niwaki.load(folder, engine, head="other"), Predictor(separate, engine)
        assert ours.values(INPUTS["number"]) == theirs.values(INPUTS["number"])
        assert ours.values(INPUTS["number"]) != Predictor(folder, engine).values(INPUTS["number"])


def test_a_head_trained_with_all_layers_frozen_can_be_added(tmp_path):
    folder = saved(model_of("label"), tmp_path / "trunk")
    model = load_folder(folder)
    model = Freeze(layers=2).prepare(model, Context.__new__(Context))
    parameters = [parameter for parameter in model.network.parameters() if parameter.requires_grad]
    optimizer = torch.optim.SGD(parameters, lr=0.5)
    forward(model.anatomy, tiny.batch(model)).logits.square().sum().backward()
    optimizer.step()
    home = add_head(folder, saved(model, tmp_path / "trained"), "trained")
    ours, before = Predictor(home, "onnx"), Predictor(folder, "onnx")
    encoded = ours.tokenize(INPUTS["label"])
    assert np.array_equal(ours.logits(encoded), Predictor(tmp_path / "trained", "onnx").logits(encoded))
    assert not np.array_equal(ours.logits(encoded), before.logits(encoded))


def test_engines_without_shared_trunks_are_not_chosen(tmp_path):
    _, home = one_head(tmp_path)
    assert usable_engines(home) == ["onnx", "torch"]
    with pytest.raises(InputError, match=r"niwaki export .* --to openvino"):
        Predictor(home, "openvino")
    with pytest.raises(InputError, match=r"niwaki export .* --to native"):
        Predictor(home, "native")


# ── rejections ──────────────────────────────────────────────────────────────────────────────────────────────────────


def one_head(home: Path, sealed: bool = False) -> tuple[Path, Path]:
    """A model folder with one further head, `ner`."""
    root = model_of("label")
    if sealed:
        with commit_folder(home / "trunk") as temporary:
            saved(root, temporary)
    else:
        saved(root, home / "trunk")
    return home / "trunk", add_head(home / "trunk", saved(on_trunk_of(root, "tags", "bert"), home / "tags"), "ner")


def test_a_model_with_another_trunk_is_rejected_with_the_number_of_tensors(tmp_path):
    root = model_of("label")
    folder, source = saved(root, tmp_path / "trunk"), on_trunk_of(root, "tags", "bert")
    source.network.bert.encoder.layer[1].output.dense.weight.data[0, 0] += 1
    source.network.bert.embeddings.LayerNorm.bias.data[0] += 1
    with pytest.raises(InputError, match=r"2 of 37 trunk tensors differ .*freeze"):
        add_head(folder, saved(source, tmp_path / "tags"), "ner")
    assert head_names(folder) == [] and not (folder / "heads").exists()


def test_equal_tensors_with_another_config_are_rejected(tmp_path):
    root = model_of("label")
    folder, source = saved(root, tmp_path / "trunk"), saved(on_trunk_of(root, "tags", "bert"), tmp_path / "tags")
    change(source / "config.json", hidden_act="relu")
    with pytest.raises(InputError, match=r"'hidden_act' of its config.json differs"):
        add_head(folder, source, "ner")


def test_another_tokenizer_is_rejected(tmp_path):
    root = model_of("label")
    folder, source = saved(root, tmp_path / "trunk"), saved(on_trunk_of(root, "tags", "bert"), tmp_path / "tags")
    text = (source / "tokenizer.json").read_text().replace('"lowercase":true', '"lowercase":false')
    (source / "tokenizer.json").write_text(text)
    with pytest.raises(InputError, match=r"tokenizer.json differs"):
        add_head(folder, source, "ner")


@pytest.mark.parametrize("engine", ["torch", "onnx"])
def test_a_head_on_another_trunk_is_rejected(tmp_path, engine):
    folder, _ = one_head(tmp_path)
    other = saved(model_of("label", seed=9), tmp_path / "other")
    shutil.copytree(folder / "heads", other / "heads")
    with pytest.raises(InputError, match="was saved for another trunk"):
        niwaki.load(other, engine, head="ner")


@pytest.mark.parametrize("key, value", [("hidden_act", "relu"), ("layer_norm_eps", 0.1)])
def test_a_trunk_whose_config_changed_is_rejected(tmp_path, key, value):
    folder, home = one_head(tmp_path)
    change(folder / "config.json", **{key: value})
    for engine in ("torch", "onnx"):
        with pytest.raises(InputError, match="was saved for another trunk"):
            Predictor(home, engine)


def test_the_head_of_the_trunk_may_be_replaced(tmp_path):
    folder, home = one_head(tmp_path)
    expected = Predictor(home, "torch").values(INPUTS["tags"])
    model = load_folder(folder)
    model.network.classifier.weight.data += 1
    saved(model, folder)
    assert Predictor(home, "torch").values(INPUTS["tags"]) == expected


@pytest.mark.parametrize("file", ["head.safetensors", "model.onnx", "config.json", "trunk.json"])
def test_a_damaged_head_is_rejected(tmp_path, file):
    _, home = one_head(tmp_path)
    data = bytearray((home / file).read_bytes())
    data[-3] ^= 1
    (home / file).write_bytes(data)
    for engine in ("torch", "onnx"):
        with pytest.raises(InputError, match=r"(is not what was saved|not JSON|cannot be read)"):
            Predictor(home, engine)


@pytest.mark.parametrize("file", ["head.safetensors", "model.onnx", "config.json", "trunk.json", "MANIFEST"])
def test_a_head_without_one_of_its_files_is_rejected(tmp_path, file):
    folder, home = one_head(tmp_path)
    (home / file).unlink()
    with pytest.raises(InputError):
        niwaki.load(folder, "torch", head="ner")


def test_a_sealed_folder_takes_heads_and_still_notices_damage(tmp_path):
    folder, home = one_head(tmp_path, sealed=True)
    assert Predictor(folder, "onnx").labels == KINDS["label"][1]
    change(folder / "tokenizer_config.json", model_max_length=20)
    for path in (folder, home):
        with pytest.raises(InputError, match=r"tokenizer_config.json: is not what was saved"):
            Predictor(path, "onnx")


@pytest.mark.parametrize("name", ["", "..", "../x", "a/b", "/tmp", "A", ".hidden", "-x", "a b", "x" * 65, "é", "a\n"])
def test_unsafe_names_are_rejected(tmp_path, name):
    folder, _ = one_head(tmp_path)
    with pytest.raises(InputError, match="a name has at most 64"):
        add_head(folder, tmp_path / "tags", name)
    if name:
        with pytest.raises(InputError, match="a name has at most 64"):
            niwaki.load(folder, "onnx", head=name)


def test_a_name_is_used_once(tmp_path):
    folder, _ = one_head(tmp_path)
    with pytest.raises(InputError, match="is there already"):
        add_head(folder, tmp_path / "tags", "ner")


def test_heads_are_not_added_to_heads_or_finished_stages(tmp_path):
    folder, home = one_head(tmp_path)
    with pytest.raises(InputError, match="is a head"):
        add_head(home, tmp_path / "tags", "other")
    stage = tmp_path / "stage"
    shutil.copytree(folder, stage / "model")
    (stage / "result.json").write_text("{}")
    with pytest.raises(InputError, match="belongs to a finished stage"):
        add_head(stage / "model", tmp_path / "tags", "other")


def test_models_that_generate_text_are_rejected(tmp_path):
    folder = saved(model_of("label"), tmp_path / "trunk")
    with pytest.raises(InputError, match="generates text"):
        add_head(folder, saved(model_of("text"), tmp_path / "text"), "summary")


def test_links_instead_of_heads_are_rejected(tmp_path):
    folder, home = one_head(tmp_path)
    home.rename(tmp_path / "elsewhere")
    home.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InputError, match="is a link"):
        niwaki.load(folder, "onnx", head="ner")


# ── command line ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_show_lists_heads_and_predict_uses_them(tmp_path, capsys):
    folder, _ = one_head(tmp_path)
    assert run(["show", str(folder), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["further_heads"] == ["ner"]
    assert run(["predict", str(folder), "a film", "--head", "ner", "--engine", "onnx", "--json"]) == 0
    (answer,) = json.loads(capsys.readouterr().out)
    assert set(answer["tags"]) <= set(KINDS["tags"][1])
    (tmp_path / "texts.txt").write_text("a film\n")
    files = ["--in", str(tmp_path / "texts.txt"), "--out", str(tmp_path / "out.jsonl")]
    assert run(["predict", str(folder), *files, "--head", "ner", "--engine", "onnx"]) == 0
    assert json.loads((tmp_path / "out.jsonl").read_text())["tags"] == answer["tags"]
    capsys.readouterr()
    assert run(["predict", str(folder), "a film", "--head", "nert"]) == 3
    assert "has no head 'nert', did you mean 'ner'?" in capsys.readouterr().err


def change(path: Path, **values: object) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))
