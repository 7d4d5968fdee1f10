"""Runs the Python block of README.md and records its output: `python benchmarks/readme.py [MODEL]`.

MODEL is a fine-tuned model for the bundled reviews, by default the teacher of runs/demo-seed-0 (benchmarks/demo.py). The rows are the test
split, which it was not trained on. Appends a record to results/readme.jsonl; `make results` puts the output below the block.
"""

import contextlib
import csv
import io
import re
import sys
import tempfile
import time
from pathlib import Path

import records

from niwaki.tasks.rotten_tomatoes import RottenTomatoes

README = Path(__file__).parents[1] / "README.md"
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
MODEL, ROWS = "my-model", "reviews.csv"  # names in the block


def block() -> str:
    """The first Python block of the README."""
    found = BLOCK.search(README.read_text(encoding="utf-8"))
    assert found, "README.md has no Python block"
    return found[1]


def main(model: str = "") -> None:
    source = Path(model) if model else next(Path("runs/demo-seed-0/stages").glob("teacher-*/model"))
    model_folder = source.resolve()
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        Path(MODEL).symlink_to(model_folder)
        write_rows(Path(ROWS))
        output, start = io.StringIO(), time.perf_counter()
        with contextlib.redirect_stdout(output):
            exec(compile(block(), str(README), "exec"), {})
        seconds = time.perf_counter() - start
    found = {"code": block(), "output": output.getvalue(), "seconds": seconds, **records.circumstances()}
    records.append("readme", found)


def write_rows(path: Path) -> None:
    table = RottenTomatoes().splits()["test"]
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["text", "label"])
        rows.writerows(zip(table.column("text").to_pylist(), table.column("label").to_pylist(), strict=True))


if __name__ == "__main__":
    main(*sys.argv[1:])
