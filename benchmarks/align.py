"""Alignment of word vectors on MUSE's test words: `python benchmarks/align.py DATA E5 [pair/variant …]`.

DATA has `muse_dicts`; E5 is a folder with multilingual-e5-small. English words are embedded by the embedded MiniLM, those of the other language by E5, so that the two spaces
have nothing in common. Words are those of the dictionaries, the most frequent first. Appends to results/align.jsonl; recorded jobs are skipped.
"""

import argparse
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from records import append, circumstances
from records import read as recorded

from niwaki import api
from niwaki.data.embedded import find_model

HOME = Path("runs") / "align"
WORDS = 20_000
PAIRS = ("en-de", "en-es", "en-fr", "en-it")
PLAIN: dict[str, Any] = {"center": False, "csls": False}
VARIANTS: dict[str, dict[str, Any]] = {
    "least squares": {**PLAIN, "method": "least_squares"},
    "orthogonal": PLAIN,
    "orthogonal, centred": {"csls": False},
    "orthogonal, centred, CSLS": {},
    "25 pairs": {"seeds": 25},
    "25 pairs, self-learning": {"seeds": 25, "self_learning": True},
    "numerals": {"dictionary": "numerals"},
    "numerals, self-learning": {"dictionary": "numerals", "self_learning": True},
}


def words(data: Path, pair: str, side: str) -> list[str]:
    """Words of one side of a dictionary, those of the most frequent source words first, with numerals."""
    table = pq.read_table(data / "muse_dicts" / f"{pair}.parquet").sort_by("rank")
    found = dict.fromkeys(table.column(side).to_pylist())
    return [*[*found][:WORDS], *(str(number) for number in range(1900, 2030) if str(number) not in found)]


def vectors(model: Path, listed: list[str], name: str) -> Path:
    out = HOME / f"{name}.vec"
    if not out.is_file():
        HOME.mkdir(parents=True, exist_ok=True)
        (HOME / f"{name}.txt").write_text("\n".join(listed) + "\n", encoding="utf-8")
        api.word_vectors(model, HOME / f"{name}.txt", out)
    return out


def run(pair: str, variant: str, data: Path, e5: Path) -> dict[str, Any]:
    minilm = find_model("minilm")
    assert minilm is not None, "needs the embedded model"
    models = {"source": minilm, "target": e5}
    tables = [vectors(model, words(data, pair, side), f"{pair}-{side}") for side, model in models.items()]
    settings = dict(VARIANTS[variant])
    pairs = data / "muse_dicts" / f"{pair}.parquet"
    found = api.align(*tables, settings.pop("dictionary", pairs), test=pairs, **settings)
    return {"pair": pair, "variant": variant, **{key: value for key, value in found.items() if key != "changes"}}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("e5", type=Path)
    parser.add_argument("names", nargs="*")
    given = parser.parse_args()
    done = {f"{row['pair']}/{row['variant']}" for row in recorded("align")}
    for name in given.names or [f"{pair}/{variant}" for pair in PAIRS for variant in VARIANTS]:
        if name not in done:
            append("align", {**run(*name.split("/"), given.data, given.e5), **circumstances()})
