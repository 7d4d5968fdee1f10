"""The benchmark of translation metrics on WMT22: its records, and its rendered section."""

import importlib
from pathlib import Path

import pytest
from pyarrow import parquet, table

from niwaki.core.errors import InputError

ROOT = Path(__file__).parents[2]


@pytest.fixture
def load(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return importlib.import_module


def record(pair, ours, official):
    scores = {
        "bleu": {"value": ours, "low": ours - 1, "high": ours + 1},
        "chrf": {"value": 60.0, "low": 59.0, "high": 61.0},
    }
    return {
        "pair": pair,
        "reference": "A",
        "rows": 20,
        "signature": "BLEU x|y",
        "ours": scores,
        "seconds": {"resampling": 1.25},
        "sacrebleu": {"bleu": ours, "chrf": 60.0},
        "official": {"bleu": official, "chrf": 60.0},
    }


def test_equal_and_different_scores_are_counted(load):
    rendered = load("render_translation").wmt22
    text = rendered([record("en-de", 1.0, 1.0), record("en-ru", 34.5, 34.0), record("en-de", 38.0, 38.0)])
    assert "| en-de, A | 20 | 38.00 (37.0 to 39.0) | 38.00 | 60.00 (59.0 to 61.0) | 60.00 |" in text
    assert (
        "Of 4 scores, 3 equal the official ones and 4 those of sacreBLEU" in text
        and "the largest difference to an official score is 0.5" in text
    )
    assert "Signature: BLEU x|y" in text


def test_a_record_contains_bleu_computed_by_hand(load, tmp_path, monkeypatch):
    (tmp_path / "wmt22").mkdir()
    rows = {
        "source": ["a", "b"],
        "ref_A": ["ein rotes Haus steht dort"] * 2,
        "hyp_Online-B": ["ein rotes Haus steht dort", "ein rotes Haus steht hier"],
    }
    parquet.write_table(table(rows), tmp_path / "wmt22" / "en-de.parquet")
    benchmark = load("wmt22")
    found = benchmark.run("en-de", "A", str(tmp_path))
    right = (9 / 10 * 7 / 8 * 5 / 6 * 3 / 4) ** 0.25
    assert found["ours"]["bleu"]["value"] == pytest.approx(100 * right) == pytest.approx(found["sacrebleu"]["bleu"])
    assert found["ours"]["exact"]["value"] == pytest.approx(50) and found["official"]["bleu"] == 38.36852355513645
    with pytest.raises(InputError, match="has no column 'ref_B'"):
        benchmark.run("en-de", "B", str(tmp_path))
