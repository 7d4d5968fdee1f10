"""Sentences with sense keys, as files give them, to rows of the task `senses`."""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from niwaki.core.errors import InputError
from niwaki.data import wordnet
from niwaki.data.column_names import normalize
from niwaki.tasks._tables import row_slices

TEXTS = pa.list_(pa.string())
SCHEMA = pa.schema(
    [
        ("text", pa.string()),
        ("tokens", TEXTS),
        ("words", pa.list_(pa.int32())),
        ("lemmas", TEXTS),
        ("pos", TEXTS),
        ("senses", pa.list_(TEXTS)),
        ("ids", TEXTS),
    ]
)
IDS = "instanceids"
Row = dict[str, Any]


def sense_rows(table: pa.Table, columns: Sequence[str], source: object, part: str) -> pa.Table:
    """One row per sentence that has target words. `columns` are those of tokens, lemmas, parts of speech and sense keys."""
    names = next((name for name in table.column_names if normalize(name) == IDS), None)
    chosen = table.select(list(columns)).rename_columns(["tokens", "lemmas", "pos", "senses"])
    chosen = chosen.append_column("ids", table.column(names) if names else pa.nulls(table.num_rows))
    rows = (row for part in row_slices(chosen) for row in part.to_pylist())
    found = (
        _with_targets(number, row, f"{source}: row {number + 1} of the {part} rows") for number, row in enumerate(rows)
    )
    return pa.Table.from_pylist([row for row in found if row["words"]], SCHEMA)


def _with_targets(number: int, row: Row, where: str) -> Row:
    lists = [row[name] for name in ("tokens", "lemmas", "pos", "senses")]
    if not all(isinstance(cell, list) for cell in lists) or len({len(cell) for cell in lists}) != 1:
        raise InputError(f"{where}: tokens, lemmas, parts of speech and senses must be lists of the same length")
    tokens, lemmas, parts, senses = lists
    if any(not isinstance(token, str) or not token.strip() for token in tokens):
        raise InputError(f"{where}: a word is empty; fill it or drop the row")
    targets = [place for place, keys in enumerate(senses) if keys]
    named = isinstance(row["ids"], list) and len(row["ids"]) == len(tokens)
    found: dict[str, list[Any]] = {"words": targets, "lemmas": [], "pos": [], "senses": [], "ids": []}
    for place in targets:
        pos, keys = wordnet.pos_of(parts[place]), senses[place]
        if pos is None or not lemmas[place]:
            raise InputError(
                f"{where}: word {place + 1} ('{tokens[place]}') has senses, and no lemma or no part of speech that has any ({parts[place]})"
            )
        found["lemmas"].append(wordnet.lemma_of(lemmas[place]))
        found["pos"].append(pos)
        found["senses"].append([keys] if isinstance(keys, str) else keys)
        found["ids"].append(str(row["ids"][place]) if named else f"{number}.{place}")
    return {"text": " ".join(tokens), "tokens": tokens, **found}
