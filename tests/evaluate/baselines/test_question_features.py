"""Features of positions in a text, given a question."""

import numpy as np

from niwaki.evaluate.baselines._question_features import OverlapFeatures, QuestionFeatures, word_offsets


def test_overlap_features_match_values_computed_by_hand():
    words = ["the", "film", "was", "dull", ".", "the", "plot", "was", "fine"]
    found = dict(OverlapFeatures(words, {"plot": 3.0, "was": 1.0}).transform(8))  # at `fine`
    assert found["sentence"] == 1 and found["lead"] == 0 and found["best"] == 1
    assert found["left 3"] == 1 and found["left 10"] == 1.25 and found["right 10"] == 0
    first = dict(OverlapFeatures(words, {"plot": 3.0, "was": 1.0}).transform(0))
    assert first["sentence"] == 0.25 and first["lead"] == -0.75 and first["right 3"] == 0.25


def test_question_word_is_not_part_of_the_overlap():
    """`where` is in the text, and is not a hint at the position of the answer."""
    hints = QuestionFeatures(["a film", "a plot"])
    given = [("where film ?", "where plot"), ("film ?", "where plot")]
    rows = hints.rows(given)
    first, second = (hints.transform(given, rows, np.array([at])) for at in (0, 3))  # what speaks for no answer
    assert (first != second).nnz == 0


def test_rare_words_have_higher_weights():
    hints = QuestionFeatures(["the film", "the plot", "a scene"])
    assert hints.weight("odd") > hints.weight("film") > hints.weight("the") > 0
    assert word_offsets("A film, odd").tolist() == [[0, 1], [2, 6], [6, 7], [8, 11]]
    rows = hints.rows([("how?", "A film"), ("how?", " ")])
    assert rows.ids.lengths.tolist() == [3, 1] and rows.metadata[0].first == 1
    every = hints.transform([("how?", "A film"), ("how?", " ")], rows, np.arange(4))
    some = hints.transform([("how?", "A film"), ("how?", " ")], rows, np.array([1, 3]))
    assert every.shape[0] == 4 and (every[[1, 3]] != some).nnz == 0
