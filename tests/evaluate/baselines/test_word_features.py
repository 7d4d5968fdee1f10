"""Features of words in a sentence."""

from niwaki.evaluate.baselines._word_features import shape, word_features


def test_words_have_shapes_affixes_and_neighbours_as_features():
    assert [shape(word) for word in ("Tokyo", "B-52", "eBay", "...", "")] == ["Xx", "X-d", "xXx", ".", ""]
    assert [len(seen) for seen in word_features(["a", "b"])] == [17, 17]
    first, second = word_features(["Big", "apple"])
    assert {"is Big", "word big", "shape Xx", "starts b", "ends ig", "word1 apple", "shape1 x"} <= set(first)
    assert {"word-1 big", "shapes Xx x ", "before big x"} <= set(second)
