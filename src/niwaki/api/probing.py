"""Asks what linear classifiers read from the layers of models."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from niwaki.core.errors import InputError, UsageError, did_you_mean
from niwaki.core.json_types import Json

if TYPE_CHECKING:
    from niwaki.models.model import Model


def probe(
    models: str | Path | Sequence[str | Path],
    data: str | Path | Sequence[str | Path],
    *,
    probes: Sequence[str] = (),
    sentences: int = 2000,
    examples: int = 3000,
    seed: int = 0,
) -> Json:
    """Probes of one or several models on annotated sentences: files with the words of each sentence (`tokens`) and columns such as `upos`,
    `head` and `ner_tags`. At most so many `sentences` of a file are read, and so many `examples` of a probe are used.

    >>> niwaki.probe(["teacher", "student"], "en.conllu", probes=["part_of_speech"])["probes"]
    """
    from niwaki.evaluate.probes._probe import PROBES
    from niwaki.evaluate.probing.probe import probe as measure
    from niwaki.evaluate.probing.rows import read_sentences

    for name, number in (("sentences", sentences), ("examples", examples)):
        if number < 1:
            raise UsageError(f"probe: {name} must be 1 or more (given: {number})")
    for name in probes:
        if name not in PROBES:
            raise UsageError(f"probe: there is no probe '{name}'{did_you_mean(name, PROBES.names())}")
    paths = [str(one) for one in ([models] if isinstance(models, str | Path) else models)]
    sources = [data] if isinstance(data, str | Path) else list(data)
    if not paths or not sources:
        raise UsageError("probe: name at least one model, and rows with data")
    rows = read_sentences(sources, sentences, seed)
    opened = {name: (lambda path=path: _load(path)) for name, path in zip(short_names(paths), paths, strict=True)}
    return measure(opened, rows, probes, examples, seed)


def _load(path: str) -> "Model":
    from niwaki.models.model import load_folder
    from niwaki.run.model_path import locate_model

    found = load_folder(locate_model(path))
    if found.anatomy.family.inputs.reads == "images":
        raise InputError(f"{path}: reads images, and probes are for models of texts")
    return found


def short_names(paths: Sequence[str]) -> list[str]:
    """The last part of each path; more of it where two models would have the same name."""
    parts = [Path(path).parts or (path,) for path in paths]
    longest = max(map(len, parts))
    for count in range(1, longest + 1):
        names = ["/".join(part[-count:]) for part in parts]
        if len(set(names)) == len(names):
            return names
    return [f"{number + 1}: {path}" for number, path in enumerate(paths)]
