"""Tries what each model family can do on a tiny random model: `python benchmarks/families.py`. Appends a record to results/families.jsonl.

The checks are those of tests/capabilities.py. A cell is "" or the reason that validation gives.
"""

import tempfile
from pathlib import Path

import tiny_models  # noqa: F401 - makes the tests' modules importable
from records import append, circumstances

from capabilities import CHECKS, families


def main() -> None:
    cells: dict[str, dict[str, str]] = {}
    for family in families():
        cells[family] = {}
        for column, check in CHECKS.items():
            with tempfile.TemporaryDirectory() as folder:
                cells[family][column] = check(family, Path(folder))
    append("families", {"cells": cells, **circumstances()})


if __name__ == "__main__":
    main()
