"""Runs niwaki on a CSV file with unusual columns and cells: `python benchmarks/unusual_csv.py DATA`. Appends to results/odd_csv.jsonl.

The rows are WordNet entries (DATA/wordnet30): lemmas and definitions on two or more lines of a quoted cell, with one of 50 labels; one
label has 30 % of the rows. Column names are uninformative, two columns are irrelevant, and the file name contains spaces and brackets.
The benchmark runs `niwaki run --data FILE` in a folder with only this file.
"""

import csv
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

from pyarrow import parquet
from records import append, circumstances

from niwaki.data import dataset_files
from niwaki.tasks.classification import Classification

PROGRAM = str(Path(sys.executable).with_name("niwaki"))
NAME = "Export (2) final.csv"
HEADER = ["№", "was steht da?", "zuletzt am", "Σ → Schublade"]
DEPTH, LABELS, COMMON, RARE = 6, 50, 1800, 85  # a label is the subtree of an entry at this depth


def families(data: Path) -> dict[str, list[str]]:
    """The 50 largest subtrees as labels, with their entries as texts."""
    entries = {row["synset"]: row for row in parquet.read_table(data / "wordnet30" / "synsets.parquet").to_pylist()}
    found = defaultdict(list)
    for key, row in entries.items():
        above = path_to(key, entries)
        if key.endswith("n") and len(above) > DEPTH + 1:
            found[above[DEPTH]].append(f"{', '.join(row['lemmas'])}\n{row['gloss']}".replace("_", " "))
    largest = sorted(found, key=lambda key: (-len(found[key]), key))[:LABELS]
    return {", ".join(entries[key]["lemmas"][:2]).replace("_", " "): found[key] for key in largest}


def path_to(key: str, entries: dict[str, dict[str, Any]]) -> list[str]:
    """The path from the root to this entry, by first parents."""
    path = [key]
    while (above := entries[path[0]]["hypernyms"]) and above[0] not in path:
        path.insert(0, above[0])
    return path


def write(data: Path, path: Path) -> dict[str, Any]:
    draw, rows = random.Random(0), []
    for place, (label, texts) in enumerate(families(data).items()):
        rows += [(text, label) for text in draw.sample(sorted(texts), COMMON if place == 0 else RARE)]
    draw.shuffle(rows)
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(HEADER)
        for number, (text, label) in enumerate(rows, start=1):
            table.writerow([number, text, f"{1 + number % 28:02d}.{1 + number % 12:02d}.2019", label])
    return {"rows": len(rows), "labels": LABELS, "largest": COMMON / len(rows), "bytes": path.stat().st_size}


def main(data: Path) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        written = write(data, folder / NAME)
        columns = Classification(path=str(folder / NAME)).data.columns(dataset_files.read_splits(folder / NAME)["all"])
        start = time.perf_counter()
        subprocess.run([PROGRAM, "run", "--data", NAME, "--quiet"], check=True, cwd=folder)
        seconds = time.perf_counter() - start
        run = next((folder / "runs").iterdir())
        report = json.loads((run / "report.json").read_text(encoding="utf-8"))
        baselines = json.loads((run / "baseline.json").read_text(encoding="utf-8"))["baselines"]
        others = sorted(path.name for path in folder.iterdir() if path.name not in (NAME, "runs"))
        return {
            **written,
            "columns": columns,
            "seconds": seconds,
            "run": run.name,
            "written_beside": others,
            "report_bytes": (run / "report.html").stat().st_size,
            "metric": report["task"]["metric"],
            "rungs": [{"name": row["name"], "score": row["score"]["value"]} for row in baselines],
            "stages": [
                {key: stage.get(key) for key in ("name", "score", "score_low", "score_high", "bytes")}
                for stage in report["stages"]
            ],
            "need": report["verdict"]["transformer"]["sentence"],
            "cores": len(os.sched_getaffinity(0)),
        }


if __name__ == "__main__":
    found = main(Path(sys.argv[1]).resolve())
    print(json.dumps(found, ensure_ascii=False, indent=1))
    append("odd_csv", {**found, **circumstances()})
