"""Removes tokens from a model that the texts of an application do not use."""

from collections.abc import Sequence
from pathlib import Path

from niwaki.core.errors import UsageError
from niwaki.core.json_types import Json
from niwaki.run.model_path import model_path


def trim(
    model: str | Path,
    texts: Sequence[str | Path],
    *,
    out: str | Path = "trimmed",
    targets: Sequence[str | Path] = (),
    columns: Sequence[str] = (),
    min_count: int = 1,
    all_characters: bool = True,
) -> Json:
    """Writes a model that knows the tokens of some texts (lines of files, or columns of tables) only. `targets` are texts like those that an
    encoder-decoder should generate. Without `all_characters`, characters that the texts lack become unknown."""
    from niwaki.run.trimming import trim as write

    if any(isinstance(one, str | Path) for one in (texts, targets, columns)):
        raise UsageError("trim: texts, targets and columns are lists; put a single one into a list")
    files, generated = ([Path(one).expanduser() for one in some] for some in (texts, targets))
    folder = model_path(model, single=True)
    return write(folder, Path(out).expanduser(), files, generated, columns, min_count, all_characters)
