"""Aligns two tables of word vectors, and makes such tables from encoders."""

from pathlib import Path
from typing import TYPE_CHECKING

from niwaki.core.errors import UsageError, did_you_mean
from niwaki.core.files import require_writable
from niwaki.core.json_types import Json

if TYPE_CHECKING:
    from niwaki.vectors.alignment import Settings
    from niwaki.vectors.dictionary import Pairs
    from niwaki.vectors.table import WordVectors

LIMIT = 200_000  # words of each table


def align(
    source: str | Path,
    target: str | Path,
    dictionary: str | Path,
    *,
    test: str | Path = "",
    method: str = "orthogonal",
    center: bool = True,
    csls: bool = True,
    self_learning: bool = False,
    seeds: int = 0,
    limit: int = LIMIT,
    changes: int = 0,
    out: str | Path = "",
) -> Json:
    """Maps the word vectors of `source` into the space of `target`; both are files in word2vec's text format, most frequent words first.

    `dictionary` is a file of word pairs, `numerals` or `identical`, of which the first `seeds` are used (0: all). `test` is a file of word
    pairs for precision; a table with the column `split` may be both. `method` is `orthogonal` or `least_squares`. `limit` words are read of
    each table. `changes` words are listed whose neighbours differ most. `out` is a file for the mapped vectors.
    """
    from niwaki.vectors import table
    from niwaki.vectors.alignment import Settings
    from niwaki.vectors.mapping import METHODS

    if method not in METHODS:
        raise UsageError(
            f"method '{method}': is not known{did_you_mean(method, list(METHODS))}; take one of {', '.join(METHODS)}"
        )
    if out:
        require_writable(Path(out).parent)
    first, second = (table.read(Path(path), limit) for path in (source, target))
    settings = Settings(method, center, csls, self_learning)
    return _aligned((first, second), _pairs(dictionary, first, second)[: seeds or None], settings, test, changes, out)


def _aligned(
    tables: "tuple[WordVectors, WordVectors]",
    pairs: "Pairs",
    settings: "Settings",
    test: str | Path,
    changes: int,
    out: str | Path,
) -> Json:
    from niwaki.core import log
    from niwaki.vectors import alignment
    from niwaki.vectors.changes import changed_words
    from niwaki.vectors.precision import precision

    found = alignment.align(*tables, pairs, settings, log.info)
    if out:
        found.source.write(Path(out))
    return {
        "words": [len(table) for table in tables],
        "pairs": len(pairs),
        "pairs_with_vectors": found.seeds,
        "rounds": found.rounds,
        "dictionary": found.dictionary,
        "test": precision(_test_pairs(test), found.source, found.target, settings.csls) if test else None,
        "changes": changed_words(found.source, found.target, changes) if changes else [],
    }


def _pairs(dictionary: str | Path, first: "WordVectors", second: "WordVectors") -> "Pairs":
    from niwaki.vectors import dictionary as dictionaries

    if str(dictionary) in dictionaries.SHARED:
        return dictionaries.shared(str(dictionary), first, second)
    return dictionaries.read(Path(dictionary), "train")


def _test_pairs(path: str | Path) -> "Pairs":
    from niwaki.vectors import dictionary

    return dictionary.read(Path(path), "test")


def word_vectors(
    model: str | Path, words: str | Path, out: str | Path, *, engine: str = "auto", limit: int = 0
) -> Json:
    """Writes the embeddings of single words by an encoder as a table of word vectors. `words` is a file with one word a line."""
    from niwaki.api.loading import load
    from niwaki.core.errors import InputError
    from niwaki.vectors.table import WordVectors

    source = Path(words)
    if not source.is_file():
        raise InputError(f"{source}: is not a file of words")
    require_writable(Path(out).parent)
    try:
        lines = source.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError:
        raise InputError(f"{source}: is not text in UTF-8; convert it first") from None
    listed = dict.fromkeys(line.strip() for line in lines if line.strip())
    chosen = [*listed][: limit or None]
    if not chosen:
        raise InputError(f"{source}: has no words")
    table = WordVectors(chosen, load(model, engine).encode(chosen))
    table.write(Path(out))
    return {"out": str(out), "words": len(table), "size": int(table.vectors.shape[1])}
