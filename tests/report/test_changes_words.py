"""Words of a comparison: signs, units, small p-values."""

from niwaki.report import changes_words as words

from .comparisons_of_models import facts


def test_figures_have_signs_and_units():
    assert words.points(-0.0123) == "−1.2" and words.points(-0.0001) == "+0.0" and words.points(None) == "unknown"
    assert words.percent(0.123) == "12.3 %"
    assert words.p_value(0.04) == "0.040" and words.p_value(1e-9) == words.p_value(None) == "< 0.001"


def test_sentences_name_the_worst_group_and_the_overlap():
    found = facts()
    assert words.headline(found) == "10.0 % of the predictions changed"
    assert words.worst(found) == "Of the groups that are shown to lose, class “good” loses most: −6.0 points."
    assert words.worst({"groups": found["groups"][1:]}) == "No group is shown to lose."
    assert words.worst({"groups": []}) == "There are no groups."
    assert "14 are in both sets, where chance gives 1.8, 7.6 times as many (p < 0.001)" in words.overlap_words(
        found["pie"]
    )
    assert words.overlap_words({"halves": None}).startswith("Give four seeds")
