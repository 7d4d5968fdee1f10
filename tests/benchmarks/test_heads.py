"""The page on heads: ratios of a record, by hand."""

import importlib
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_ratios_are_those_of_the_record(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    page = importlib.import_module("render_heads")
    one = {"one head": 2.0, "nine heads": 2.2, "cached one head": 0.02, "encoder pass of a text": 0.01}
    mixed = {"mixed": 2.0, "single delta": 1.9, "niwaki.load, single delta, batches": 1.0}
    more = {"answers unlike the solo answer": 0, "MB, one delta": 800.0, "MB, all deltas": 900.0}
    row = {
        "texts": 100,
        "deltas": 7,
        "heads": {**one, "fetching its outputs from memory": 1e-5},
        "mixed": {**mixed, **more},
    }
    text = page.heads([row])
    for expected in ("1.10 × one head", "100 × cheaper", "1,000 × cheaper", "95% of the throughput", "50% is what"):
        assert expected in text
