"""What tokens of byte pair encoding are merged from."""

from niwaki.tokenization.merge_paths import merged_from, ranks_of


def test_rules_are_read_in_both_forms():
    assert ranks_of(["a b", ["ab", " c"]]) == {("a", "b"): 0, ("ab", " c"): 1}


def test_only_the_tokens_on_the_way_are_found():
    ranks = ranks_of(["b c", "a b", "a bc", "ab c"])
    assert merged_from(["abc"], ranks) == {"abc", "bc", "a", "b", "c"}
    assert merged_from(["abd"], ranks) == {"abd", "ab", "a", "b", "d"}  # no rule makes it
    assert merged_from([], ranks) == set()


def test_continuing_tokens_have_their_prefix():
    ranks = ranks_of([["##b", "##c"], ["a", "##bc"]])
    assert merged_from(["abc"], ranks, "##") == {"abc", "a", "##b", "##c", "##bc"}
    assert merged_from(["##bc"], ranks, "##") == {"##bc", "##b", "##c"}
