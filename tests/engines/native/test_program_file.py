"""native.json runs only unchanged, with the config, blueprint and weights it was written for."""

import json
import shutil
import subprocess
import sys

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

import tiny
from niwaki import api
from niwaki.core.errors import InputError
from niwaki.core.files import fingerprint
from niwaki.engines.native.library import best
from niwaki.engines.native.program_file import DIGESTS, PROGRAM, WEIGHTS, read_program
from niwaki.engines.runtimes.native import Native
from niwaki.engines.runtimes.openvino import OpenVino
from niwaki.models.edits.heads import Heads
from niwaki.models.edits.int8 import Int8

pytestmark = pytest.mark.skipif(best() is None, reason="the native engine was not built, or this processor lacks AVX2")
TEXTS = [text for text, _ in tiny.sentences(8)]


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A pruned and quantized model with relative positions: its native.json has nearly every field."""
    model = tiny.model("mpnet", layers=2)
    model.apply_edit(Heads(keep=[[0, 2], [1, 2, 3]]))
    model.apply_edit(Int8())
    return tiny.deployed(model, tmp_path_factory.mktemp("saved"))


@pytest.fixture
def folder(saved, tmp_path):
    return shutil.copytree(saved, tmp_path / "copy")


def leaves(value, path=()):
    """The paths of all values that hold no others, and of all lists."""
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(inner, (*path, key))
    if not isinstance(value, dict):
        yield path


def mutated(value):
    """Values of the same type that a careless edit could leave there, and one of another type."""
    if isinstance(value, bool):
        return [not value, None]
    if isinstance(value, int | float):
        return [value + 1, value / 2, str(value)]
    if isinstance(value, str):
        return [value[:-1], value.replace("0", "1") + "x"]
    return [value[:-1], value[::-1] if value[::-1] != value else [*value, *value]]


def edit(where, path, change):
    values = json.loads(where.read_text())
    holder = values
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = change
    where.write_text(json.dumps(values))


def test_the_written_program_is_read(saved):
    assert api.load(saved, "native").predict(TEXTS)


def test_the_order_of_keys_and_spaces_do_not_matter(folder):
    wanted = api.load(folder, "native").predict(TEXTS)
    for name in ("config.json", "blueprint.json", PROGRAM):
        (folder / name).write_text(json.dumps(json.loads((folder / name).read_text()), sort_keys=True))
    assert api.load(folder, "native").predict(TEXTS) == wanted


def test_every_changed_field_is_rejected(folder):
    where = folder / PROGRAM
    text = where.read_text()
    program = json.loads(text)
    long = {"rows"}  # lists of hundreds of numbers: the first few stand for all
    for path in leaves(program):
        if len(path) > 1 and path[-2] in long and path[-1] > 2:
            continue
        value = program
        for key in path:
            value = value[key]
        for change in mutated(value):
            where.write_text(text)
            edit(where, path, change)
            with pytest.raises(InputError, match=PROGRAM):
                read_program(folder)


def test_every_removed_or_added_key_is_rejected(folder):
    where = folder / PROGRAM
    program = json.loads(where.read_text())
    for key in program:
        where.write_text(json.dumps({name: value for name, value in program.items() if name != key}))
        with pytest.raises(InputError, match=PROGRAM):
            read_program(folder)
    for name in ("written", "widen"):
        where.write_text(json.dumps({**program, name: None}))
        with pytest.raises(InputError, match=PROGRAM):
            read_program(folder)


def flip_weight(folder):
    tensors = load_file(folder / WEIGHTS)
    name = next(name for name, value in tensors.items() if value.dtype == np.int8)
    tensors[name].reshape(-1)[5] ^= 1
    save_file(tensors, folder / WEIGHTS, metadata={"format": "pt"})


def swap_weights(folder):
    tensors = load_file(folder / WEIGHTS)
    one, other = [name for name in sorted(tensors) if name.endswith("norm.weight") or "LayerNorm.weight" in name][:2]
    tensors[one], tensors[other] = tensors[other].copy(), tensors[one].copy()
    save_file(tensors, folder / WEIGHTS, metadata={"format": "pt"})


def edit_blueprint(folder):
    path = folder / "blueprint.json"
    changed = json.loads(path.read_text())
    changed["edits"] = changed["edits"][:-1]
    path.write_text(json.dumps(changed))


CHANGES = {
    "config.json": lambda folder: edit(folder / "config.json", ("num_attention_heads",), 2),
    "config.json, label names": lambda folder: edit(folder / "config.json", ("id2label",), {"0": "good", "1": "bad"}),
    "blueprint.json": edit_blueprint,
    "blueprint.json, removed": lambda folder: (folder / "blueprint.json").unlink(),
    f"{WEIGHTS}, one bit": flip_weight,
    f"{WEIGHTS}, two tensors swapped": swap_weights,
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_changed_file_that_the_program_was_written_for_is_rejected_by_name(folder, name):
    CHANGES[name](folder)
    with pytest.raises(InputError, match=f"{name.partition(',')[0]}: not what {PROGRAM} was written for"):
        Native(folder, 1)


def test_the_program_of_another_model_is_rejected(folder, tmp_path):
    (other := tmp_path / "other").mkdir()
    tiny.deployed(tiny.model("mpnet", layers=2, seed=1), other)
    shutil.copy(other / PROGRAM, folder / PROGRAM)
    with pytest.raises(InputError, match=WEIGHTS):
        Native(folder, 1)


def forged(folder, key, change):
    """With digests that match, as only a stranger would write them."""
    where = folder / PROGRAM
    program = json.loads(where.read_text())
    ties = program.pop(DIGESTS)
    program[key] = change(program[key])
    where.write_text(json.dumps({**program, DIGESTS: {**ties, PROGRAM: fingerprint(program)}}))


@pytest.mark.parametrize(("key", "change"), [("head", lambda head: head[:1]), ("per_token", lambda value: not value)])
def test_forged_programs_with_other_outputs_are_rejected(folder, key, change):
    forged(folder, key, change)
    with pytest.raises(InputError, match=r"its head gives .* config\.json expects 2 for each text"):
        Native(folder, 1)


def test_cut_heads_end_the_command_with_exit_code_3(folder):
    edit(folder / PROGRAM, ("head",), json.loads((folder / PROGRAM).read_text())["head"][:1])
    command = [
        sys.executable,
        "-c",
        "from niwaki.cli import main; main()",
        "predict",
        str(folder),
        "--engine",
        "native",
        "good",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 3 and PROGRAM in done.stderr and done.stderr.count("\n") == 1


def test_programs_without_digests_are_skipped_with_a_message(folder, capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("niwaki.core.log._quiet", False)
    monkeypatch.setattr(
        OpenVino, "missing_requirement", lambda: "not here"
    )  # it cannot be loaded with gcc's sanitizers
    where = folder / PROGRAM
    program = json.loads(where.read_text())
    del program[DIGESTS]
    where.write_text(json.dumps({**program, "version": 1}))
    assert api.load(folder).engine != "native"
    lines = [line for line in capsys.readouterr().err.splitlines() if "MANIFEST" not in line]
    assert len(lines) == 1 and "without digests" in lines[0]
    with pytest.raises(InputError, match="without digests"):
        api.load(folder, "native")
