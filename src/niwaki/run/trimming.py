"""Writes a model with the tokens that some texts use, and without the others."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from niwaki.core.errors import InputError, UsageError
from niwaki.core.files import commit_folder, require_writable
from niwaki.core.json_types import Json
from niwaki.data import unlabelled
from niwaki.engines.export import write_graph
from niwaki.models.anatomy import shares_vocabulary
from niwaki.models.model import load_folder
from niwaki.models.trimming import trim_vocabulary


def trim(
    source: Path,
    out: Path,
    texts: Sequence[Path],
    targets: Sequence[Path],
    columns: Sequence[str],
    min_count: int,
    all_characters: bool,
) -> Json:
    """Writes the folder `out`, with a graph if the source has one, and returns what became of tokens and numbers."""
    if not texts:
        raise UsageError("trim: give at least one file of texts")
    for file in (*texts, *targets):
        if not file.exists():
            raise InputError(f"{file}: is not there")
    if out.exists() and any(out.iterdir() if out.is_dir() else [out]):
        raise InputError(f"{out}: exists already; remove it, or choose another folder with --out")
    require_writable(out)
    model = load_folder(source)
    before = {"tokens": model.anatomy.tokens.num_embeddings, "parameters": model.parameters()}
    if shares_vocabulary(model.anatomy) and not targets:
        raise UsageError(f"{source}: generates texts; give texts like those that it should generate with --targets")
    model = trim_vocabulary(model, _every(texts, columns), _every(targets, columns), min_count, all_characters)
    with commit_folder(out) as folder:
        model.save(folder)
        if any(source.glob("*.onnx")):
            write_graph(model, folder)
    after = {"tokens": model.anatomy.tokens.num_embeddings, "parameters": model.parameters()}
    return {"out": str(out), **{key: [before[key], after[key]] for key in before}}


def _every(sources: Sequence[Path], columns: Sequence[str]) -> Iterator[str]:
    for source in sources:
        yield from unlabelled.single_texts(source, columns)
