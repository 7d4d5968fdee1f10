"""Sentences that follow one another: rows, features, ranks by hand."""

import numpy as np
import pyarrow as pa
import pytest

from niwaki.core.errors import InputError
from niwaki.tasks import sentence_embedding
from niwaki.tasks.sentence_embedding import SentenceEmbedding, ranks_of_next

from .rows import TEXTS, TOKENIZER


def task(folder, **more):
    documents = [" ".join(text.capitalize() for text in TEXTS[start : start + 3]) for start in range(0, 60, 3)]
    (folder / "a.txt").write_text("\n\n".join(documents), encoding="utf-8")
    given = {"path": str(folder / "a.txt"), "validation": 0.2, "test": 0.2, "cache": str(folder / "tokens")}
    return SentenceEmbedding(**{**given, **more})


def test_rows_are_sentences_in_order(tmp_path):
    given = task(tmp_path)
    train = given.splits()["train"]
    assert train.column("document").to_pylist() == sorted(train.column("document").to_pylist())
    assert train.num_rows > 20 and all(text.count(".") == 1 for text in train.column("text").to_pylist())
    found = given.features(train, TOKENIZER, 12)
    assert len(found) == train.num_rows and found.targets.tolist() == train.column("document").to_pylist()
    assert given.head.architecture == "FeatureExtraction" and given.head.labels == []


def test_documents_of_one_sentence_and_pairs_are_rejected(tmp_path):
    with pytest.raises(InputError, match=r"no document of the [a-z]+ rows has two sentences"):
        task(tmp_path, documents="line", path=_lines(tmp_path)).splits()
    with pytest.raises(InputError, match="reads single texts"):
        _ = SentenceEmbedding(path=str(tmp_path), column="a", second_column="b").splits()


def _lines(folder):
    (folder / "lines.txt").write_text("\n".join(TEXTS))
    return str(folder / "lines.txt")


def test_ranks_by_hand():
    """Of sentence 1 the next one is 2, and 0 does not compete: 3 is nearer. Of sentence 0 the next one is the nearest."""
    vectors = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.6, 0.8]], dtype=np.float32)
    assert ranks_of_next(vectors, np.array([1, 0, 2])).tolist() == [2.0, 1.0, 1.0]


def test_of_equal_ones_the_middle_rank():
    assert ranks_of_next(np.zeros((5, 2), np.float32), np.array([0])).tolist() == [1 + 3 / 2]


def test_scores_by_hand(monkeypatch):
    """Two blocks of two sentences: in each the only candidate is the next one. The third sentence ends a document."""
    monkeypatch.setattr(sentence_embedding, "COMPARED", 2)
    scorer, rows = SentenceEmbedding().scorer, pa.table({"text": list("abcd"), "document": [0, 0, 0, 1]})
    stats = scorer.example_stats([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 0.0]], rows)
    assert stats.tolist() == [[1, 1, 1], [0, 0, 0], [0, 0, 0], [0, 0, 0]]
    assert scorer.scores(stats) == {"mean_reciprocal_rank": 1.0, "first": 1.0}
    assert scorer.scores(scorer.all_wrong(stats))["mean_reciprocal_rank"] == 0
