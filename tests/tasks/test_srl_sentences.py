"""Sentences with predicates and arguments: faults in words, rows and tags by hand. Scores are in test_srl_scores.py."""

import pytest

from niwaki.tasks._srl_sentences import NONE, Sentence, bounds, plain_label, rows_of, tagged

WORDS = ["The", "cat", "sat", "down"]
ARGUMENT = {"predicate": 0, "start": 0, "end": 2, "label": "ARG0"}


def sentence(tokens=WORDS, predicates=(2,), rolesets=("sit.01",), arguments=(), heads=()):
    return Sentence.of([*tokens], [*predicates], [*rolesets], [*arguments], [*heads])


def test_empty_cells_are_empty_lists():
    assert Sentence.of(None, None, None, None, None) == Sentence([], [], [], [], ())


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({}, ""),
        ({"arguments": [ARGUMENT]}, ""),
        ({"tokens": ["The", "", "sat", "down"]}, "word 2 is empty; fill it or drop the row"),
        ({"rolesets": []}, "has 1 predicates and 0 rolesets; give one for each"),
        ({"heads": [1, 2]}, "has 2 heads and 4 words; give one for each, 0 for the root"),
        ({"predicates": [4]}, "has a predicate at word 4, and 4 words; they are counted from 0"),
        ({"rolesets": ["sit"]}, "roleset 'sit' is not a lemma, a full stop and a number (sit.01)"),
        ({"predicates": [2, 2], "rolesets": ["a.01", "b.01"]}, "a word is a predicate twice; keep one of them"),
        ({"arguments": [{**ARGUMENT, "label": "A 0"}]}, "an argument's label is 'A 0'; write it in one word (ARG0)"),
        (
            {"arguments": [{**ARGUMENT, "predicate": 1}]},
            "argument ARG0 is of predicate 1, and there are 1; they are counted from 0",
        ),
        (
            {"arguments": [{**ARGUMENT, "end": 5}]},
            "argument ARG0 goes from 0 to 5 in 4 words; start counts from 0, end is not in it",
        ),
    ],
)
def test_the_first_fault_is_named(changes, fault):
    assert sentence(**changes).fault() == fault


def test_an_argument_is_a_range_or_a_head_word():
    assert bounds(ARGUMENT) == (0, 2) and bounds({"token": 3}) == (3, 4) and bounds({}) == (None, None)


@pytest.mark.parametrize(
    ("arguments", "heads", "scored"),
    [
        ([{"predicate": 0, "token": 1, "label": "ARG0"}], [2, 3, 0, 3], True),
        ([ARGUMENT], [2, 3, 0, 3], False),
        ([], [2, 3, 0, 3], True),
        ([{"predicate": 0, "token": 1, "label": "ARG0"}], [], False),
    ],
)
def test_heads_are_scored_where_arguments_and_tree_give_them(arguments, heads, scored):
    assert sentence(arguments=arguments, heads=heads).scores_heads == scored


def test_other_words_of_the_predicate_continue_it():
    """The predicate is word 2; its span covers words 1 to 3."""
    span = {"predicate": 0, "start": 1, "end": 4, "label": "V"}
    assert list(sentence(arguments=[span]).labelled_spans(0)) == [("C-V", 1, 2), ("C-V", 3, 4)]
    assert list(sentence(arguments=[span]).labelled_spans(1)) == []


@pytest.mark.parametrize(
    ("label", "wanted"),
    [
        ("A0", "ARG0"),
        ("AM-LOC", "ARGM-LOC"),
        ("C-A1", "C-ARG1"),
        ("R-AM-TMP", "R-ARGM-TMP"),
        ("AA", "ARGA"),
        ("ARG0", "ARG0"),
        ("ARGM-LOC", "ARGM-LOC"),
        ("ARGA", "ARGA"),
        ("V", "V"),
        ("Agent", "Agent"),
        ("AM", "AM"),
    ],
)
def test_labels_of_older_sets_get_their_present_names(label, wanted):
    assert plain_label(label) == wanted


def test_a_sentence_is_a_row_for_its_predicates_and_one_for_each():
    first, second = rows_of(sentence(arguments=[ARGUMENT]))
    assert (first["predicate"], first["roleset"], first["tags"]) == (NONE, "", ["O", "O", "P", "O"])
    assert (second["predicate"], second["roleset"]) == (2, "sit.01")
    assert second["tags"] == ["B-ARG0", "I-ARG0", "S-01", "O"] and second["untold"] == 0
    assert first["text"] == second["text"] == "The cat sat down" and first["heads"] == []


def test_overlapping_arguments_do_not_fit_into_tags():
    spans = [("ARG0", 0, 2), ("ARG1", 1, 4), ("C-V", 2, 3), ("ARG2", 3, 4)]
    assert tagged(4, 2, "sit.01", spans) == (["B-ARG0", "I-ARG0", "S-01", "B-ARG2"], 1)  # C-V is no argument
