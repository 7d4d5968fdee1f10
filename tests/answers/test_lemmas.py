"""Words to lemmas: detachment rules, irregular forms, and lemmas of several words."""

import pytest

from niwaki.answers._lemmas import base_forms


@pytest.mark.parametrize(
    ("word", "pos", "lemma"),
    [
        ("dogs", "noun", "dog"),
        ("churches", "noun", "church"),
        ("boxes", "noun", "box"),
        ("ladies", "noun", "lady"),
        ("women", "noun", "woman"),
        ("boxesful", "noun", "boxful"),
        ("making", "verb", "make"),
        ("walked", "verb", "walk"),
        ("tries", "verb", "try"),
        ("finer", "adj", "fine"),
        ("tallest", "adj", "tall"),
        ("sat", "verb", "sit"),
    ],
)
def test_base_forms_include_the_lemma(word, pos, lemma):
    assert lemma in list(base_forms(word, pos, {("sat", "verb"): "sit"}))


def test_lemmas_of_a_word_cover_every_part_of_speech(sense_inventory):
    assert sense_inventory.lemmas.of("banks") == (("bank", "noun"), ("bank", "verb"))
    assert sense_inventory.lemmas.of("leaves") == (("leaf", "noun"), ("leave", "noun"), ("leave", "verb"))
    assert sense_inventory.lemmas.of("xyzzy") == sense_inventory.lemmas.of("") == ()
    assert sense_inventory.lemmas.of_text("the") == () and sense_inventory.lemmas.of_text("Sat up") == (
        ("sit_up", "verb"),
    )


def test_words_of_one_lemma_are_joined(sense_inventory):
    words = ["The", "grand", "juries", "sat", "up", ",", "jury", "grand"]
    assert sense_inventory.lemmas.joined(words) == ["The", "grand juries", "sat up", ",", "jury", "grand"]
