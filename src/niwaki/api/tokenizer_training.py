"""Trains a tokenizer on texts."""

from collections.abc import Sequence
from pathlib import Path

from niwaki.core.errors import UsageError
from niwaki.core.json_types import Json


def tokenizer(
    sources: Sequence[str | Path],
    *,
    split: str = "bpe",
    vocab_size: int = 8000,
    out: str | Path = "tokenizer",
    columns: Sequence[str] = (),
) -> Json:
    """Writes a folder with a tokenizer.json trained on texts (lines of files, or columns of tables), and returns its statistics on a
    tenth of them that it was not trained on."""
    from niwaki.run.tokenizer_training import write

    if isinstance(sources, str | Path) or isinstance(columns, str):
        raise UsageError("tokenizer: sources and columns are lists; put a single one into a list")
    return write([Path(one).expanduser() for one in sources], split, vocab_size, Path(out).expanduser(), columns)
