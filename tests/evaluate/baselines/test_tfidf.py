"""TF-IDF with a linear model."""

import numpy as np
import pytest

from evaluate.task_kinds import fitted, scored
from niwaki.evaluate.baselines.tfidf import shared

LEARNT = {
    "label": 0.95,
    "pair": 0.9,
    "labels": 0.95,
    "number": 0.9,
    "tags": 0.95,
    "span": 0.9,
    "span or none": 0.75,
    "choice": 0.95,
    "roles": 0.9,
}


@pytest.mark.parametrize(("kind", "least"), LEARNT.items())
def test_tfidf_solves_tasks_that_single_words_decide(tasks_by_kind, bert_folder, kind, least):
    assert scored(tasks_by_kind[kind], fitted("tfidf", tasks_by_kind[kind], bert_folder)) >= least


def test_overlap_of_two_texts_matches_values_computed_by_hand():
    from scipy import sparse

    a, b = sparse.csr_matrix([[0.6, 0.8, 0.0, 0.0]]), sparse.csr_matrix([[0.0, 0.6, 0.0, 0.8]])
    np.testing.assert_allclose(shared(a, b), [[0.48, 1 / 2, 1 / 2, 1 / 3, 0]])
    nothing = sparse.csr_matrix((1, 4))
    np.testing.assert_allclose(shared(a, nothing), [[0, 0, 0, 0, 1]])
