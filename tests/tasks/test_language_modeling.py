"""Plain texts: scores by hand, copies left out, token files written once for a tokenizer and a length."""

import math

import numpy as np
import pyarrow as pa
import pytest

from niwaki.data import token_files
from niwaki.tasks.language_modeling import LEAST, LanguageModeling

from .rows import TEXTS, TOKENIZER, counts


@pytest.fixture
def task(tmp_path):
    return corpus_task(tmp_path)


def corpus_task(folder, texts=TEXTS, **more):
    (folder / "a.txt").write_text("\n\n".join(texts), encoding="utf-8")
    settings = {"validation": 0.1, "test": 0.1, "cache": str(folder / "tokens"), **more}
    return LanguageModeling(path=str(folder / "a.txt"), **settings)


def test_scores_are_means_over_tokens_and_not_over_texts(task):
    values = [[[math.log(0.5), 1]], [[3 * math.log(0.25), 3]]]
    rows = pa.table({"text": ["a né", "two more words"]})  # 2 + 3 words, 5 + 14 bytes
    stats = task.scorer.example_stats(values, rows)
    mean = (math.log(0.5) + 3 * math.log(0.25)) / 4
    expected = {"token_probability": math.exp(mean), "perplexity": math.exp(-mean), "log_likelihood": mean}
    expected |= {"word_perplexity": 2 ** (7 / 5), "bits_per_byte": 7 / 19}  # 1 + 3 · 2 bits
    assert task.scorer.scores(stats) == pytest.approx(expected)
    assert task.scorer.all_wrong(stats).tolist() == [[LEAST, 1, 2, 5], [3 * LEAST, 3, 3, 14]]


def test_words_and_bytes_are_those_of_the_part_that_was_read(task):
    rows = pa.table({"text": ["a né film and more"]})
    assert task.scorer.example_stats([[[-1.0, 3, 9]]], rows).tolist() == [[-1.0, 3, 3, 10]]


@pytest.mark.parametrize("cell", ["-1.0", [-1.0], [-1.0, 2, 3], None])
def test_answers_that_are_no_likelihood_are_rejected(task, cell):
    with pytest.raises(TypeError, match="is not a log-likelihood"):
        task.scorer.parse_value(cell)
    assert task.scorer.parse_value([-1, 2]) == [[-1.0, 2.0]]


def test_copies_of_documents_are_left_out_with_a_message(tmp_path, monkeypatch):
    messages = []
    monkeypatch.setattr("niwaki.tasks.language_modeling.info", messages.append)
    distinct = len(set(TEXTS))
    assert sum(counts(corpus_task(tmp_path, [*TEXTS, *TEXTS[:7]])).values()) == distinct
    assert messages == [
        f"{tmp_path / 'a.txt'}: {len(TEXTS) + 7 - distinct} documents are copies of others and are left out"
    ]


def test_texts_are_tokenized_once_for_a_length(task, monkeypatch):
    rows = task.splits()["train"].slice(0, 20)
    first = task.features(rows, TOKENIZER, 12)
    with monkeypatch.context() as patch:
        patch.setattr(token_files, "write", lambda *_: pytest.fail("tokenized again"))
        second = task.features(rows, TOKENIZER, 12)
    assert np.array_equal(first.rows.ids.values, second.rows.ids.values)
    assert first.lengths.max() <= 12 and len(first) >= 20
    assert task.features(rows, TOKENIZER, 10).lengths.max() <= 10


def test_the_cache_folder_is_no_part_of_the_fingerprint(tmp_path):
    one, other = (corpus_task(tmp_path, cache=str(tmp_path / name)) for name in ("x", "y"))
    assert one.data.fingerprint() == other.data.fingerprint() != corpus_task(tmp_path, max_tokens=64).data.fingerprint()
