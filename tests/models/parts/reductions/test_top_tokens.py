"""Dropping tokens as a part."""

from niwaki.models.parts.reductions.top_tokens import TopTokens, TopTokensSettings


def test_the_share_is_a_whole_number_of_thousandths():
    assert TopTokens(8, TopTokensSettings(share=0.7585, min_tokens=3)).left == (758, 3)
    assert TopTokens(8, TopTokensSettings(share=0.0001)).left.thousandths == 1
