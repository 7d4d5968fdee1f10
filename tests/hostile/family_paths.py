"""Links that lead out, and files that are none."""

import os
from pathlib import Path

from hostile.sound import TEXT


def _linked(sound, folder, name, what="model"):
    """The model, with one of its files a link to a copy of it outside."""
    model = sound.copy(what, folder)
    outside = folder / "outside"
    outside.write_bytes((model / name).read_bytes())
    (model / name).unlink()
    (model / name).symlink_to("../outside")
    return ["predict", str(model), TEXT, *(["--engine", "torch"] if what == "edited" else [])]


def a_config_from_outside(sound, folder):
    return _linked(sound, folder, "config.json")


def weights_from_outside(sound, folder):
    return _linked(sound, folder, "model.safetensors")


def a_tokenizer_from_outside(sound, folder):
    return _linked(sound, folder, "tokenizer.json")


def a_graph_from_outside(sound, folder):
    return _linked(sound, folder, "model.onnx")


def a_blueprint_from_outside(sound, folder):
    return _linked(sound, folder, "blueprint.json", "edited")


def a_link_to_itself(sound, folder):
    model = sound.copy("model", folder)
    (model / "tokenizer_config.json").unlink()
    (model / "tokenizer_config.json").symlink_to("tokenizer_config.json")
    return ["predict", str(model), TEXT]


def a_pipe_without_data(sound, folder):
    model = sound.copy("model", folder)
    (model / "tokenizer_config.json").unlink()
    os.mkfifo(model / "tokenizer_config.json")
    return ["predict", str(model), TEXT]


def a_device_without_end(sound, folder):
    model = sound.copy("model", folder)
    (model / "config.json").unlink()
    (model / "config.json").symlink_to("/dev/zero")
    return ["predict", str(model), TEXT]


def a_secret_as_the_recipe_of_a_report(sound, folder):
    return _run_with(sound, folder, lambda path, secret: path.symlink_to(secret))


def a_secret_by_another_name(sound, folder):
    return _run_with(sound, folder, lambda path, secret: path.hardlink_to(secret))


def _run_with(sound, folder, link):
    run = sound.copy("run", folder)
    secret = folder / "id_rsa"
    secret.write_text("PRIVATE KEY")
    path: Path = run / "recipe.toml"
    path.unlink(missing_ok=True)
    link(path, secret)
    return ["report", str(run)]
