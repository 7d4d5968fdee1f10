"""The source is recorded once, with its times in every number format, and those of its first layer alone."""

from niwaki.search import source as module
from niwaki.search.journal import Journal
from niwaki.search.source import figures_of_source, source_line
from search import searching


def test_the_source_and_one_layer_of_it_are_timed_in_every_format(searched):
    line = searched.content["source"]
    assert line["kinds"] == ["float", "int8"] and set(line["times"]) == {"float/native", "int8/native"}
    for one in line["times"].values():
        assert 0 < one["one_flops"] < one["flops"] and one["one"]["latency_ms"] > 0
    assert line["other_bytes"] < line["bytes"] and [one["format"] for one in line["variants"]] == ["float", "int8"]


def test_a_recorded_source_is_reused(tmp_path, monkeypatch):
    journal = Journal(tmp_path / "a.jsonl")
    journal.add_source(searching.SOURCE)
    monkeypatch.setattr(module, "recipe_of_source", None)
    assert source_line(searching.job(tmp_path), journal)["score"] == 0.8


def test_figures_of_the_source():
    found = figures_of_source(searching.SOURCE)
    assert (found.kept, found.bytes, found.throughput, found.p99_ms) == (1.0, 80_000_000, 200.0, 10.0)
