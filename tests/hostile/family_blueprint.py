"""Blueprints whose edits name what is not there, or take time and memory without end."""

import json

from hostile.sound import TEXT, write


def _with(sound, folder, base=None, **values):
    model = sound.copy("edited", folder)
    path = model / "blueprint.json"
    sound_values = json.loads(path.read_text())
    write(path, {**sound_values, "base": {**sound_values["base"], **(base or {})}, **values})
    return ["predict", str(model), TEXT, "--engine", "torch"]


def an_edit_that_is_a_path(sound, folder):
    return _with(sound, folder, edits=[{"edit": "../../../evil"}])


def an_edit_that_is_code(sound, folder):
    return _with(sound, folder, edits=[{"edit": "os.system", "keep": "id"}])


def a_million_edits(sound, folder):
    return _with(sound, folder, edits=[{"edit": "int8"}] * 100_000)


def edits_that_take_minutes(sound, folder):
    return _with(sound, folder, base={"num_hidden_layers": 12}, edits=[{"edit": "heads", "keep": [4] * 12}] * 900)


def more_neurons_than_there_are(sound, folder):
    return _with(sound, folder, edits=[{"edit": "ffn", "keep": [10**18, 1, 1]}])


def a_layer_again_and_again(sound, folder):
    return _with(sound, folder, edits=[{"edit": "layers", "keep": [0] * 100_000}])


def a_skeleton_that_requires_code(sound, folder):
    return _with(sound, folder, base={"auto_map": {"AutoModel": "evil.Model"}})


def a_skeleton_as_wide_as_a_planet(sound, folder):
    return _with(sound, folder, base={"hidden_size": 10**13}, edits=[{"edit": "int8"}])


def a_version_from_the_future(sound, folder):
    return _with(sound, folder, version="9" * 5000)


def a_list_nested_without_end(sound, folder):
    model = sound.copy("edited", folder)
    text = '{"version": 1, "base": {}, "edits": [{"edit": "heads", "keep": ' + "[" * 100_000 + "]" * 100_000 + "}]}"
    (model / "blueprint.json").write_text(text)
    return ["predict", str(model), TEXT, "--engine", "torch"]
