"""What a point costs is predicted without training."""

import pytest

import tiny
from niwaki.search.predict import figures, packed_bytes, rank_correlation, timed, trim

TIMES = {
    "float/native": {
        "full": {"latency_ms": 7.0, "p99_ms": 9.0, "seconds_per_text": 0.005, "joules_per_1000": 60.0},
        "one": {"latency_ms": 2.0, "p99_ms": 3.0, "seconds_per_text": 0.001, "joules_per_1000": None},
        "flops": 600,
        "one_flops": 100,
    },
    "int8/native": {"full": {"latency_ms": 3.0, "joules_per_1000": None}, "flops": 600},
}


def test_time_grows_with_flops_on_the_line_through_both_timed_models():
    assert timed(TIMES, "float", "native", 600)["latency_ms"] == pytest.approx(7.0)
    assert timed(TIMES, "float", "native", 100)["latency_ms"] == pytest.approx(2.0)
    found = timed(TIMES, "float", "native", 300)
    assert found["latency_ms"] == pytest.approx(4.0)  # 2 + 5 · 200/500
    assert found["p99_ms"] == pytest.approx(5.4)
    assert found["joules_per_1000"] == pytest.approx(30.0)  # of one timed model: in proportion


def test_without_a_second_timed_model_time_is_proportional_to_flops():
    assert timed(TIMES, "int8", "native", 300) == {"latency_ms": pytest.approx(1.5)}
    assert timed(TIMES, "4bit", "native", 300) == {}


def test_figures_of_a_prediction():
    found = figures(0.9, 5, timed(TIMES, "float", "native", 600))
    assert (found.kept, found.bytes, found.throughput) == (0.9, 5, pytest.approx(200))
    assert figures(0.9, 5, {}).latency_ms is None


def test_sizes_by_number_format():
    model = tiny.model("bert", ffn=256)
    found = dict(packed_bytes(model, ["float", "int8", "4bit"]))
    assert found["float"] == 4 * sum(p.numel() for p in model.network.parameters())
    assert found["4bit"] < found["int8"] < 0.5 * found["float"]


def test_a_vocabulary_is_trimmed_only_if_that_makes_it_smaller():
    model = tiny.model("bert")
    before = model.anatomy.tokens.num_embeddings
    trim(model, before + 1)
    assert model.anatomy.tokens.num_embeddings == before
    trim(model, before - 7)
    assert model.anatomy.tokens.num_embeddings == before - 7


def test_rank_correlation_is_spearmans():
    assert rank_correlation([1, 2, 3, 4], [10, 20, 40, 80]) == pytest.approx(1.0)
    assert rank_correlation([1, 2, 3, 4], [10, 20, 80, 40]) == pytest.approx(0.8)  # 1 - 6·2/(4·15)
    assert rank_correlation([1, 2], [1, 2]) is None and rank_correlation([1, 1, 1], [1, 2, 3]) is None
