"""Rows become features in a memory that does not grow with them: limits are lowered here, so that few rows are many."""

import gc
import json
import tracemalloc
from functools import partial

import pyarrow as pa
import pytest

from answers.tokens import of_bytes
from niwaki.answers import _answer_type
from niwaki.data import digests, json_rows, scratch, spill, utf8
from niwaki.data.splits import split_codes
from niwaki.tasks import _tables
from niwaki.tasks.classification import Classification


@pytest.fixture
def little(monkeypatch):
    """Everything that is held at once is a few kB."""
    monkeypatch.setattr(scratch, "LIMIT_BYTES", 2000)
    monkeypatch.setattr(scratch, "PIECE_ROWS", 200)
    monkeypatch.setattr(digests, "SORTED_ROWS", 500)
    monkeypatch.setattr(spill, "LIMIT_BYTES", 20_000)
    monkeypatch.setattr(json_rows, "blocks", partial(utf8.blocks, size=60_000))
    monkeypatch.setattr(_tables, "SLICE", 100)
    monkeypatch.setattr(_answer_type, "CHUNK", 100)


def peaks(path, count):
    """What reading a file, splitting its rows, gathering the parts and encoding them needs: the peak of Python and
    numpy, and what these and Arrow hold in the end. Mapped files are in neither."""
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps({"text": f"word{n % 7} number {n}", "label": n % 3}) + "\n" for n in range(count))
    found = {}

    def step(name, work):
        gc.collect()
        arrow = pa.total_allocated_bytes()
        tracemalloc.reset_peak()
        before, _ = tracemalloc.get_traced_memory()
        built = work()
        gc.collect()
        held, most = tracemalloc.get_traced_memory()
        found[f"{name}, held"] = held - before + pa.total_allocated_bytes() - arrow
        found[f"{name}, peak"] = most - before
        return built

    task = Classification(path=str(path), validation=0.01, test=0.01)
    tracemalloc.start()
    rows = step("read", lambda: task.normalized("all", task.read_parts()["all"]))
    step("split", lambda: split_codes(rows, "text", "label", 0.01, 0.01))
    train = step("gather", lambda: task.splits()["train"])
    assert len(step("encode", lambda: task.features(train, of_bytes()))) > 0.97 * count
    tracemalloc.stop()
    return found


def test_memory_is_flat_from_the_file_to_the_features(little, tmp_path):
    peaks(tmp_path / "first.jsonl", 500)  # what is made once: imports, caches
    growth: dict[
        str, float
    ] = {}  # bytes a row; the least of three, because Arrow's threads release memory when they like
    for attempt in range(3):
        few, many = (peaks(tmp_path / f"{count}-{attempt}.jsonl", count) for count in (6000, 12_000))
        growth |= {name: min(growth.get(name, 1e9), (many[name] - few[name]) / 6000) for name in few}
    assert max(growth.values()) < 3, growth  # an array with a number for each row would be four or eight
