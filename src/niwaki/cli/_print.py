"""Data on stdout: JSON with --json, a plain table otherwise."""

import json
import sys
from collections.abc import Sequence

from niwaki.core.json_types import Json


def print_result(value: object, as_json: bool, text: str) -> None:
    """`value` as JSON, or `text`."""
    print_text((json.dumps(value, indent=2, ensure_ascii=False) if as_json else text) + "\n")


def print_text(text: str) -> None:
    """Half a surrogate pair, which an id or a file's name may hold, is written as JSON writes it."""
    sys.stdout.write(text.encode("utf-8", "backslashreplace").decode())


def table(rows: Sequence[Json], columns: Sequence[str]) -> str:
    """Rows as aligned columns, with a header."""
    cells = [[*columns], *([_cell(row.get(column)) for column in columns] for row in rows)]
    widths = [max(len(line[place]) for line in cells) for place in range(len(columns))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in cells
    )


def _cell(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
