"""Which models a server serves: folders, runs, cascades, and the heads of a folder, each under a name."""

from collections.abc import Sequence

from niwaki.core.errors import InputError, UsageError
from niwaki.core.head_folder import head_names
from niwaki.core.model_integrity import display_name
from niwaki.engines.heads import ALL
from niwaki.run.model_path import model_path
from niwaki.serve.worker import ModelSource


def sources_of(models: Sequence[str]) -> list[ModelSource]:
    """Sources of the words on the command line: PATH or NAME=PATH. Heads in a model folder are called NAME/HEAD, all of them together
    NAME/all."""
    if not models:
        raise UsageError("serve: give at least one model, as PATH or NAME=PATH")
    found: dict[str, ModelSource] = {}
    for word in models:
        for source in _sources_of(word):
            if source.name in found:
                raise UsageError(f"serve: two models are called '{source.name}'; write NAME=PATH for one of them")
            found[source.name] = source
    return list(found.values())


def _sources_of(word: str) -> list[ModelSource]:
    name, equals, path = word.partition("=")
    if not equals or "/" in name:
        name, path = "", word
    folder = model_path(path)
    if not folder.is_dir():
        raise InputError(f"{path}: is not a folder; give the folder of a model, a cascade or a run")
    name, heads = name or display_name(folder), head_names(folder)
    together = [ALL] if heads else []
    return [ModelSource(name, path), *(ModelSource(f"{name}/{head}", path, head) for head in [*heads, *together])]
