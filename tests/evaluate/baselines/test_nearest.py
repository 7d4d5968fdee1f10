"""Nearest neighbours and the most frequent text for text generation; other baselines are skipped with a reason."""

import json

import pytest

from niwaki.evaluate import quality
from niwaki.evaluate.baseline import run_baselines
from niwaki.evaluate.baselines._nearest import AT_ONCE, Nearest
from niwaki.evaluate.baselines.majority import Majority
from niwaki.evaluate.baselines.tfidf import TextFeatures, TfIdf
from niwaki.meter import meter
from niwaki.tasks.translation import Translation

TRAIN = [
    ("a red house", "ein rotes Haus"),
    ("a green tree", "ein grüner Baum"),
    ("a dog runs", "ein Hund rennt"),
    ("the dog", "ein Hund rennt"),
]


@pytest.fixture
def task(tmp_path):
    parts = {
        "train": TRAIN,
        "validation": [("a red dog", "ein roter Hund")],
        "test": [("red house", "rotes Haus"), ("?", "?")],
    }
    for part, rows in parts.items():
        lines = [json.dumps({"en": source, "de": target}) for source, target in rows]
        (tmp_path / f"{part}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return Translation(path=str(tmp_path), text="en", target="de")


def test_most_frequent_text_is_predicted(task, tmp_path):
    assert Majority(task, tmp_path).fit()(["a", "b"]) == ["ein Hund rennt"] * 2


def test_text_of_the_nearest_neighbour_is_predicted(task, tmp_path):
    candidate = TfIdf(task, tmp_path)
    answer = candidate.fit()
    assert candidate.name == "TF-IDF + nearest neighbour"
    assert answer(["one red house", "tree", "?", "a dog"]) == [
        "ein rotes Haus",
        "ein grüner Baum",
        "ein Hund rennt",
        "ein Hund rennt",
    ]
    assert answer([]) == []


def test_more_texts_than_fit_in_one_chunk_are_answered(task):
    answer = Nearest(task, task.splits()["train"], TextFeatures(1, 1000))
    inputs = [source for source, _ in TRAIN] * AT_ONCE
    assert answer(inputs) == [target for _, target in TRAIN] * AT_ONCE


def test_text_baselines_are_run_or_skipped(task, tmp_path, monkeypatch):
    monkeypatch.setattr(quality, "RESAMPLES", 20)
    record, example_stats = run_baselines(task, tmp_path, meter)
    assert [candidate["kind"] for candidate in record["baselines"]] == ["majority", "tfidf"] and example_stats.shape[
        :2
    ] == (2, 2)
    assert list(record["skipped"]) == ["static", "frozen"]
    assert all("a linear model chooses among labels" in reason for reason in record["skipped"].values())
    assert record["baselines"][1]["score"]["all"].keys() == {"bleu", "chrf", "exact"}
