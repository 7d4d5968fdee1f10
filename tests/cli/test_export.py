"""`niwaki export`: what it hands to `api.export`, and what it prints of the result."""

import json

import pytest

from niwaki import api

RESULT = {
    "out": "exported",
    "bytes": [4_000_000, 1_100_000],
    "texts": 80,
    "same_answers": 0.9875,
    "logits_apart": {"mean": 0.0123, "most": 0.31},
    "remark": "",
}


@pytest.fixture
def exported(monkeypatch):
    """Calls of `api.export`, which returns RESULT with what a test adds."""
    calls, more = [], {}

    def export(*given, **named):
        calls.append((given, named))
        return RESULT | more

    monkeypatch.setattr(api, "export", export)
    return calls, more


def test_sizes_and_differences_are_printed(niwaki, exported):
    assert niwaki("export", "model").out.splitlines() == [
        "exported: 1.1 MB, was 4.0 MB",
        "98.75% of 80 texts are answered as before; logits 0.012 apart, 0.31 at most",
    ]
    assert json.loads(niwaki("export", "model", "--json").out) == RESULT


def test_options_reach_the_call(niwaki, exported):
    options = ["--to", "onnx", "--precision", "float", "--task", "imdb", "--data", "rows.csv", "--tolerance", "0.1"]
    niwaki("export", "model", *options, "--set", "data.text=review", "--out", "there")
    ((given, named),) = exported[0]
    assert [str(value) for value in given] == ["model", "onnx", "there"]
    assert named == {
        "precision": "float",
        "task": "imdb",
        "data": "rows.csv",
        "overrides": ["data.text=review"],
        "tolerance": 0.1,
    }


def test_scores_and_the_remark_follow(niwaki, exported):
    paired = {"low": -0.02, "high": 0.01}
    exported[1].update(metric="accuracy", scores=[0.81, 0.8], paired=paired, remark="it is int8 already")
    assert niwaki("export", "model").out.splitlines()[2:] == [
        "accuracy 0.8000, was 0.8100: -0.0100 (-0.0200 to +0.0100)",
        "it is int8 already",
    ]


def test_peft_is_written_without_a_comparison(niwaki, exported, monkeypatch):
    monkeypatch.setattr(api, "write_peft", lambda model, out: out)
    assert niwaki("export", "model", "--to", "peft", "--out", "delta").out == "delta: the delta in peft's format\n"
    assert json.loads(niwaki("export", "model", "--to", "peft", "--json").out) == {"out": "exported"}
    assert not exported[0]


def test_tolerance_is_a_share(rejected):
    assert "--tolerance" in rejected("export", "model", "--tolerance", "1.5", code=2)
