"""Reference figures as CSV files, each row with its source and year. Lines starting with # credit the data's owner."""

import csv
from functools import cache
from pathlib import Path


@cache
def rows(name: str) -> list[dict[str, str]]:
    """All rows of `<name>.csv`."""
    text = Path(__file__).with_name(f"{name}.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(line for line in text.splitlines() if line and not line.startswith("#")))
