"""Writes the text of the pretraining benchmarks: `python benchmarks/pretraining_text.py DATA OUT [--words 10000000]`.

DATA holds `wiki_en` and `imdb` (Parquet files with a column `text`). Documents are taken in the order of a digest of their text, so that the
same data gives the same list everywhere; the larger share comes from Wikipedia. OUT gets train.parquet, validation.parquet and
documents.json, which lists the source and the row of each document. IMDb's test reviews are left out.
"""

import argparse
import hashlib
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

SHARES = {"wiki_en": 0.6, "imdb": 0.4}  # of the words
TAGS = ("<br />", "<br/>", "<br>")  # that reviews contain


def texts_of(path: Path) -> list[str]:
    found = pq.read_table(path, columns=["text"]).column("text").to_pylist()
    for tag in TAGS:
        found = [text.replace(tag, " ") for text in found]
    return found


def chosen(texts: list[str], words: int) -> list[int]:
    """Rows in the order of the digests of their texts, until there are as many words."""
    digests = [hashlib.sha256(text.encode()).hexdigest() for text in texts]
    rows, total = [], 0
    for row in sorted(range(len(texts)), key=lambda row: (digests[row], row)):
        if total >= words:
            break
        rows.append(row)
        total += len(texts[row].split())
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--words", type=int, default=10_000_000)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    documents, rows = [], {}
    for name, share in SHARES.items():
        texts = texts_of(given.data / name / "train.parquet")
        rows[name] = chosen(texts, round(share * given.words))
        documents += [texts[row] for row in rows[name]]
    validation = texts_of(given.data / "wiki_en" / "validation.parquet")
    half = len(validation) // 2
    for part, texts in (("train", documents), ("validation", validation[:half]), ("test", validation[half:])):
        pq.write_table(pa.table({"text": texts}), given.out / f"{part}.parquet")
    (given.out / "documents.json").write_text(json.dumps(rows), encoding="utf-8")
    words = sum(len(text.split()) for text in documents)
    digest = hashlib.sha256(json.dumps(rows).encode()).hexdigest()[:16]
    print(f"{words} words in {len(documents)} documents; list {digest}")


if __name__ == "__main__":
    main()
