"""Standardized vectors of texts and pairs of texts."""

import numpy as np

from niwaki.evaluate.baselines._dense import Dense, combined


def test_pair_features_are_both_vectors_their_difference_and_their_product():
    a, b = np.array([[4.0, 1.0]]), np.array([[1.0, 5.0]])
    found = combined([a, b], np.array([1.0, 1.0]))  # about the centre: (3, 0) and (0, 4), then (1, 0) and (0, 1)
    np.testing.assert_allclose(found, [[1, 0, 0, 1, 1, 1, 0, 0, 0]])
    np.testing.assert_allclose(combined([a], np.array([1.0, 1.0])), a)


def test_features_are_standardized_by_the_train_rows():
    draw = np.random.default_rng(0)
    vectors = {f"text {number}": draw.normal(3, 2, 4) for number in range(50)}
    dense = Dense(lambda texts: np.array([vectors[text] for text in texts]))
    train, rest = list(vectors)[:40], list(vectors)[40:]
    found = dense.fit(train)
    np.testing.assert_allclose(found.mean(axis=0), 0, atol=1e-6)
    np.testing.assert_allclose(found.std(axis=0), 1, atol=1e-5)
    of_train = np.array([vectors[text] for text in train])
    expected = (np.array([vectors[text] for text in rest]) - of_train.mean(axis=0)) / of_train.std(axis=0)
    np.testing.assert_allclose(dense.transform(rest), expected, atol=1e-5)
