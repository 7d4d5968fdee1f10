"""Rejects large data files: `python benchmarks/rejections.py [repeats] [name ...]`. Appends to results/rejections.jsonl.

Generates a file of more than 50 MB for each way in which a reader rejects a file (`tests/reliability/rejections.py`) and reads it in 20
processes. Each must end with exit code 3 and one line, without a signal and within a minute. `niwaki check` and `niwaki predict` are
tested too. With names, only matching files run and nothing is recorded.
"""

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from records import append, circumstances  # noqa: E402

from hostile.sound import Sound, make_sound  # noqa: E402
from reliability.rejections import NAMES, READ, TASK_FILES, write  # noqa: E402

SIZE, REPEATS, MOST_SECONDS = 60 << 20, 20, 60
PROGRAM = ("cells_early.csv", "cells_early.csv.gz", "no_json_early.jsonl")  # also through the command line
NIWAKI = ["-c", "import sys; from niwaki.cli import main; sys.exit(main())"]
Attempt = dict[str, Any]


def attempt(command: list[str]) -> Attempt:
    began = time.monotonic()
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=MOST_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return {"code": None, "lines": 0, "seconds": time.monotonic() - began}
    return {"code": done.returncode, "lines": len(done.stderr.splitlines()), "seconds": time.monotonic() - began}


def commands(name: str, folder: Path, sound: Sound) -> Iterator[tuple[str, list[str]]]:
    arguments = write(name, folder, SIZE)
    if name in NAMES:
        yield name, [sys.executable, "-c", READ, *arguments]
    if name in (*PROGRAM, *TASK_FILES):
        yield f"check {name}", [sys.executable, *NIWAKI, *sound.rows_in(Path(arguments[0]))]
    if name in PROGRAM:
        out = folder / "out.jsonl"
        predict = ["predict", str(sound.model), "--in", arguments[0], "--out", str(out), "--force"]
        yield f"predict {name}", [sys.executable, *NIWAKI, *predict]


def tried(name: str, sound: Sound, repeats: int) -> list[dict[str, Any]]:
    found = []
    with tempfile.TemporaryDirectory(prefix="rejections-") as folder:
        for case, command in commands(name, Path(folder), sound):
            attempts = [attempt(command) for _ in range(repeats)]
            good = sum(one["code"] == 3 and one["lines"] == 1 for one in attempts)
            found.append(
                {
                    "case": case,
                    "attempts": repeats,
                    "as_promised": good,
                    "codes": sorted({str(one["code"]) for one in attempts}),
                    "seconds": [round(pick(one["seconds"] for one in attempts), 2) for pick in (min, max)],
                    "megabytes": round(Path(folder, name).stat().st_size / 1e6, 1),
                }
            )
            sys.stderr.write(f"{found[-1]}\n")
    return found


def main(repeats: int, names: list[str]) -> None:
    chosen = [name for name in (*NAMES, *TASK_FILES) if not names or any(word in name for word in names)]
    with tempfile.TemporaryDirectory(prefix="rejections-") as folder:
        sound = make_sound(Path(folder))
        cases = [case for name in chosen for case in tried(name, sound, repeats)]
    record = {
        **circumstances(),
        "cases": cases,
        "unpacked_megabytes": round(SIZE / 1e6, 1),
        "attempts": sum(case["attempts"] for case in cases),
        "as_promised": sum(case["as_promised"] for case in cases),
        "signals": sum(code.startswith("-") for case in cases for code in case["codes"]),
        "most_seconds": max(case["seconds"][1] for case in cases),
    }
    if not names:
        append("rejections", record)
    if record["as_promised"] < record["attempts"]:
        sys.exit(1)


if __name__ == "__main__":
    given = sys.argv[1:]
    main(int(given[0]) if given else REPEATS, given[1:])
