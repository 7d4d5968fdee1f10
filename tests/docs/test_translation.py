"""The benchmark of the scorer of translations: what is rendered counts what is equal, and says where it is not."""

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
    told = {
        "bleu": {"value": ours, "low": ours - 1, "high": ours + 1},
        "chrf": {"value": 60.0, "low": 59.0, "high": 61.0},
    }
    return {
        "pair": pair,
        "reference": "A",
        "rows": 20,
        "signature": "BLEU x|y",
        "ours": told,
        "seconds": {"resampling": 1.25},
        "sacrebleu": {"bleu": ours, "chrf": 60.0},
        "official": {"bleu": official, "chrf": 60.0},
    }


def test_what_is_rendered(load):
    rendered = load("render_translation").wmt22
    said = rendered([record("en-de", 1.0, 1.0), record("en-ru", 34.5, 34.0), record("en-de", 38.0, 38.0)])
    assert "| en-de, A | 20 | 38.00 (37.0 to 39.0) | 38.00 | 60.00 (59.0 to 61.0) | 60.00 |" in said
    assert (
        "Of 4 scores, 3 are the official ones and 4 those of sacreBLEU's own call" in said
        and "0.5 from the official" in said
    )
    assert "Signature: BLEU x|y" in said


def test_a_record_by_hand(load, tmp_path, monkeypatch):
    (tmp_path / "wmt22").mkdir()
    rows = {
        "source": ["a", "b"],
        "ref_A": ["ein rotes Haus steht dort"] * 2,
        "hyp_Online-B": ["ein rotes Haus steht dort", "ein rotes Haus steht hier"],
    }
    parquet.write_table(table(rows), tmp_path / "wmt22" / "en-de.parquet")
    made = load("wmt22")
    found = made.run("en-de", "A", str(tmp_path))
    right = (9 / 10 * 7 / 8 * 5 / 6 * 3 / 4) ** 0.25
    assert found["ours"]["bleu"]["value"] == pytest.approx(100 * right) == pytest.approx(found["sacrebleu"]["bleu"])
    assert found["ours"]["exact"]["value"] == pytest.approx(50) and found["official"]["bleu"] == 38.36852355513645
    with pytest.raises(InputError, match="has no column 'ref_B'"):
        made.run("en-de", "B", str(tmp_path))
