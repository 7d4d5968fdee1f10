"""Finds the sentences of a file that are most similar to a text."""

from collections.abc import Sequence
from pathlib import Path

from niwaki.api.loading import load
from niwaki.core.json_types import Json


def nearest(
    model: str | Path,
    corpus: str | Path,
    queries: str | Sequence[str],
    *,
    top: int = 5,
    index: str | Path = "",
    engine: str = "auto",
    columns: Sequence[str] = (),
    stage: str = "",
    head: str = "",
) -> list[Json]:
    """For each query the `top` most similar lines of a file, by the cosine of their embeddings. `index` is a folder in which the
    embeddings of the file are stored."""
    from niwaki.engines.input_file import check_columns_exist
    from niwaki.engines.nearest import Corpus
    from niwaki.engines.nearest import nearest as search

    given = [queries] if isinstance(queries, str) else list(queries)
    check_columns_exist(Path(corpus), columns)
    source = Corpus(load(model, engine, stage=stage, head=head), Path(corpus), columns)
    found = search(source, given, top, Path(index) if index else None)
    return [
        {"query": query, "nearest": [vars(neighbour) for neighbour in neighbours]}
        for query, neighbours in zip(given, found, strict=True)
    ]
