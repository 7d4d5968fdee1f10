"""Sentence encoders are compressed by the cosine with their source."""

import numpy as np
import pytest

import niwaki
import tiny
from niwaki.compression.embeddings import checked_kinds
from niwaki.core.errors import GateMissed, UsageError

TEXTS = [text for text, _ in tiny.sentences(40)]


@pytest.fixture(autouse=True)
def _quick(quick_disk):
    """Skip flushing to disk."""


def figures(result):
    return [(one.name, one.score, one.test_score, one.bytes) for one in result.candidates]


def test_a_folder_and_a_sentence_transformer_give_equal_results(encoder_folder, tmp_path):
    sentence_transformers = pytest.importorskip("sentence_transformers")
    model = sentence_transformers.SentenceTransformer(str(encoder_folder), device="cpu")
    model.save(str(tmp_path / "published"))
    first = niwaki.compress(tmp_path / "published", TEXTS, out=tmp_path / "a", keep=0.9)
    second = niwaki.compress(model, TEXTS, out=tmp_path / "b", keep=0.9)
    scores = [[figure[:3] for figure in figures(one)] for one in (first, second)]
    assert scores[0] == scores[1] and first.metric == "cosine" and first.score > 0.9 and first.smaller > 1.5
    vectors = first.model.encode(TEXTS)
    assert np.mean(np.sum(vectors * model.encode(TEXTS, normalize_embeddings=True), axis=1)) > 0.9


def test_a_copy_below_keep_is_not_recommended(encoder_folder, tmp_path):
    """4 bits are the smaller copy, but their embeddings are further from the source's."""
    loose = niwaki.compress(encoder_folder, TEXTS, out=tmp_path / "loose", keep=0.1)
    scores = {name: score for name, score, _, _ in figures(loose)}
    assert loose.chosen.name == "source-4bit" and scores["source-4bit"] < scores["source-int8"]
    between = (scores["source-4bit"] + scores["source-int8"]) / 2
    strict = niwaki.compress(encoder_folder, TEXTS, out=tmp_path / "strict", keep=between)
    assert strict.chosen.name == "source-int8"
    assert [one.good_enough for one in strict.candidates if one.name == "source-4bit"] == [False]


def test_a_missed_gate_saves_nothing(encoder_folder, tmp_path):
    with pytest.raises(GateMissed, match="no copy with a mean cosine"):
        niwaki.compress(encoder_folder, TEXTS, budget="1kB", out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_only_copies_are_possible():
    assert list(checked_kinds(["4bit"])) == ["4bit"]
    for methods in ("int8", [], ["own_data"]):
        with pytest.raises(UsageError, match="int8 and 4bit"):
            checked_kinds(methods)
