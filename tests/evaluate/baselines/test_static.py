"""Averaged static vectors with a linear model."""

from pathlib import Path

import pytest

import tiny
from evaluate.task_kinds import fitted, scored, write_vectors
from niwaki.evaluate.baseline import ORDER, run_baselines
from niwaki.evaluate.baselines.static import Static
from niwaki.meter import meter


@pytest.fixture(scope="session")
def clear_folder(tmp_path_factory) -> Path:
    """A model whose random layers change the embeddings little, so that words remain separable."""
    folder = tmp_path_factory.mktemp("clear")
    model = tiny.model("bert")
    for layer in model.anatomy.layers:
        for part in ("out", "ffn_out"):
            layer.part(part).weight.data *= 0.02
    model.save(folder)
    return folder


@pytest.mark.parametrize("candidate", ["static", "frozen"])
@pytest.mark.parametrize("kind", ["label", "pair", "labels", "number", "tags", "choice"])
def test_random_vectors_distinguish_words(tasks_by_kind, clear_folder, kind, candidate):
    task = tasks_by_kind[kind]
    least = 0.25 + 0.75 * scored(task, fitted("majority", task, clear_folder))
    assert scored(task, fitted(candidate, task, clear_folder)) > least


def test_many_rows_are_sampled_with_a_note(tasks_by_kind, bert_folder):
    baselines = [Static(tasks_by_kind["label"], bert_folder) for _ in range(2)]
    for candidate in baselines:
        candidate.max_rows = 50
    drawn = [candidate.train() for candidate in baselines]
    every = tasks_by_kind["label"].splits()["train"]
    assert drawn[0].num_rows == 50 and drawn[0].equals(drawn[1])
    assert baselines[0].note == f"fitted on 50 of the {every.num_rows} train rows"
    assert set(drawn[0].column("text").to_pylist()) <= set(every.column("text").to_pylist())
    assert Static(tasks_by_kind["label"], bert_folder).train().equals(every)


def test_given_vectors_are_used_and_named(tasks_by_kind, bert_folder, tmp_path, quick):
    """Good and bad words are separable in this file, so that the baseline is right."""
    lines = [
        f"{word} {sign} 0.5" for words, sign in ((tiny.GOOD, 1), (tiny.BAD, -1), (tiny.PLAIN, 0)) for word in words
    ]
    path = write_vectors(tmp_path, "\n".join(lines) + "\n")
    record, _ = run_baselines(tasks_by_kind["label"], bert_folder, meter, vectors=str(path))
    static = record["baselines"][ORDER.index("static")]
    assert static["score"]["value"] == 1 and static["note"] == "vectors of vectors.txt"
