"""A stranger's CSV, from one command to a report: `python benchmarks/unusual_csv.py DATA`. Appends to results/odd_csv.jsonl.

The rows are entries of WordNet (DATA/wordnet30): the words and what they mean, on two or more lines of one quoted cell, and
which of 50 families of things they belong to. One family has 30 % of the rows. No column has a name that says what it holds,
two columns say nothing, and the file's name has spaces and brackets. Nothing but `niwaki run --data FILE` is said, in a
folder that holds nothing but the file.
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
DEPTH, LABELS, COMMON, RARE = 6, 50, 1800, 85  # a family is what lies below an entry so many steps under the highest


def families(data: Path) -> dict[str, list[str]]:
    """Family → its entries as texts, the 50 largest families."""
    entries = {row["synset"]: row for row in parquet.read_table(data / "wordnet30" / "synsets.parquet").to_pylist()}
    found = defaultdict(list)
    for key, row in entries.items():
        above = path_to(key, entries)
        if key.endswith("n") and len(above) > DEPTH + 1:
            found[above[DEPTH]].append(f"{', '.join(row['lemmas'])}\n{row['gloss']}".replace("_", " "))
    largest = sorted(found, key=lambda key: (-len(found[key]), key))[:LABELS]
    return {", ".join(entries[key]["lemmas"][:2]).replace("_", " "): found[key] for key in largest}


def path_to(key: str, entries: dict[str, dict[str, Any]]) -> list[str]:
    """From the highest entry down to this one, always by the first that it lies under."""
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
        writer = csv.writer(file)
        writer.writerow(HEADER)
        for number, (text, label) in enumerate(rows, start=1):
            writer.writerow([number, text, f"{1 + number % 28:02d}.{1 + number % 12:02d}.2019", label])
    return {"rows": len(rows), "labels": LABELS, "largest": COMMON / len(rows), "bytes": path.stat().st_size}


def main(data: Path) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        told = write(data, folder / NAME)
        columns = Classification(path=str(folder / NAME)).columns(dataset_files.read_splits(folder / NAME)["all"])
        start = time.perf_counter()
        subprocess.run([PROGRAM, "run", "--data", NAME, "--quiet"], check=True, cwd=folder)
        seconds = time.perf_counter() - start
        run = next((folder / "runs").iterdir())
        report = json.loads((run / "report.json").read_text(encoding="utf-8"))
        rungs = json.loads((run / "baseline.json").read_text(encoding="utf-8"))["baselines"]
        beside = sorted(path.name for path in folder.iterdir() if path.name not in (NAME, "runs"))
        return {
            **told,
            "columns": columns,
            "seconds": seconds,
            "run": run.name,
            "written_beside": beside,
            "report_bytes": (run / "report.html").stat().st_size,
            "metric": report["task"]["metric"],
            "rungs": [{"name": row["name"], "score": row["score"]["value"]} for row in rungs],
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
