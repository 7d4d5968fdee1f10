"""Writes the rows for few_shot.py: `python benchmarks/few_shot_data.py SHARED TREC FOLDER`.

SHARED is a folder with `sst2`, `ag_news` and `imdb` as Parquet, TREC one with `train_5500.label` and `TREC_10.label`. FOLDER receives two JSON files,
dataset → {"train": [[text, label], …], "test": …}:

- few_shot.json: the official train rows, and at most 1,000 official test rows (SST-2: validation rows), drawn with a fixed seed.
- few_shot_choice.json: train rows only, for choosing settings. The first half trains, rows of the second half test. It also has IMDb and TREC's fine labels.
"""

import json
import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

MAX_TEST, SEED = 1000, 0
MIN_ROWS = 40  # of a fine label in TREC's train rows
Rows = list[tuple[str, str | int]]


def main(shared: Path, trec: Path, folder: Path) -> None:
    sst2 = [parquet(shared / "sst2" / f"{part}.parquet", "sentence") for part in ("train", "validation")]
    ag_news = [parquet(shared / "ag_news" / f"{part}.parquet", "text") for part in ("train", "test")]
    coarse = [questions(trec / f"{part}.label", fine=False) for part in ("train_5500", "TREC_10")]
    measured = {"sst2": sst2, "trec": coarse, "ag_news": ag_news}
    write(folder / "few_shot.json", {name: (train, drawn(test)) for name, (train, test) in measured.items()})
    others = {
        "imdb": parquet(shared / "imdb" / "train.parquet", "text"),
        "trec_fine": frequent(questions(trec / "train_5500.label", fine=True)),
    }
    trains = {**{name: train for name, (train, _) in measured.items()}, **others}
    write(folder / "few_shot_choice.json", {name: halves(rows) for name, rows in trains.items()})


def parquet(path: Path, column: str) -> Rows:
    table = pq.read_table(path, columns=[column, "label"]).to_pylist()
    return [(row[column].strip(), row["label"]) for row in table]


def questions(path: Path, fine: bool) -> Rows:
    """Lines `COARSE:fine question`."""
    lines = path.read_text(encoding="latin-1").splitlines()
    if lines[0].startswith("version https://git-lfs"):
        raise SystemExit(f"{path}: is a Git LFS pointer, not the questions; get the file itself")
    rows = [line.split(" ", 1) for line in lines]
    return [(text.strip(), label if fine else label.split(":")[0]) for label, text in rows]


def frequent(rows: Rows) -> Rows:
    labels = [label for _, label in rows]
    return [(text, label) for text, label in rows if labels.count(label) >= MIN_ROWS]


def halves(rows: Rows) -> tuple[Rows, Rows]:
    """Shuffled, because some files are sorted by label. A text that occurs twice stays in one half."""
    order = np.random.default_rng(SEED).permutation(len(rows))
    first = [rows[place] for place in order[: len(rows) // 2]]
    seen = {text for text, _ in first}
    return first, drawn([rows[place] for place in order[len(rows) // 2 :] if rows[place][0] not in seen])


def drawn(rows: Rows) -> Rows:
    places = np.random.default_rng(SEED).permutation(len(rows))[:MAX_TEST]
    return [rows[place] for place in sorted(places)]


def write(path: Path, datasets: dict[str, tuple[Rows, Rows]]) -> None:
    parts = {name: {"train": train, "test": test} for name, (train, test) in datasets.items()}
    path.write_text(json.dumps(parts, ensure_ascii=False), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]))
