"""Embeddings as answers: of length 1, as plain data and as lines."""

import numpy as np

import tiny
from niwaki.answers.embedding import Embedding, normalized

ROWS = Embedding().encode(["a", "b"], tiny.tokenizer().backend_tokenizer, 8)
VECTORS = np.array([[3.0, 4.0], [0.0, -2.0]], dtype=np.float32)


def test_values_have_length_one():
    assert np.allclose(Embedding().values(VECTORS, ROWS, ["a", "b"], []), [[0.6, 0.8], [0.0, -1.0]])


def test_a_zero_vector_stays_zero():
    assert normalized(np.zeros((1, 3), np.float32)).tolist() == [[0.0, 0.0, 0.0]]


def test_an_answer_is_a_record_and_a_line():
    first, second = Embedding().answers(VECTORS, ROWS, ["a", "b"], [])
    assert second.record() == {"embedding": [0.0, -1.0]}
    assert first.line() == "0.600000 0.800000" and str(first) == "[0.600, 0.800]"


def test_similar_embeddings_count_as_the_same_answer():
    assert Embedding().same([0.6, 0.8], [0.61, 0.79]) and not Embedding().same([0.6, 0.8], [0.8, 0.6])
