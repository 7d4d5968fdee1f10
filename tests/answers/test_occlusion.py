import pytest

from niwaki.answers._occlusion import Word, can_be_left_out, changes, support, without, words_of


def test_words_of_texts_pairs_and_lists():
    assert words_of(" a  fine film ") == [Word("a", 0, 1, 2), Word("fine", 0, 4, 8), Word("film", 0, 9, 13)]
    assert [(word.text, word.side) for word in words_of(("a b", "c"))] == [("a", 0), ("b", 0), ("c", 1)]
    assert words_of(["a b", "c"]) == [Word("a b", 0, 0, 1), Word("c", 0, 1, 2)]


def test_each_word_is_left_out():
    for given, wanted in (
        ("so very very fine", ["very very fine", "so very fine", "so very fine", "so very very"]),
        (("a b", "c d"), [("b", "c d"), ("a", "c d"), ("a b", "d"), ("a b", "c")]),
        (["a", "b"], [["b"], ["a"]]),
    ):
        assert [without(given, word) for word in words_of(given)] == wanted
    assert [word.text for word in can_be_left_out(("a b", "c"))] == ["a", "b"]


def test_changes_of_each_kind_of_answer():
    label = [{"label": "a", "probabilities": {"a": share, "b": 1 - share}} for share in (0.75, 0.5, 0.875)]
    assert changes(label[0], label[1:]) == [0.25, -0.125]
    labels = {"labels": ["a"], "probabilities": {"a": 0.75, "b": 0.25}}
    assert changes(labels, [{"labels": [], "probabilities": {"a": 0.5, "b": 1.0}}]) == [0.25]
    assert changes({"value": 2.0}, [{"value": 2.5}]) == [-0.5]
    assert changes({"embedding": [0.6, 0.8]}, [{"embedding": [1.0, 0.0]}]) == pytest.approx([0.4])
    assert changes({"tags": ["O"]}, [{"tags": []}]) is None and support({"answer": "x"}, {"answer": "x"}) is None
