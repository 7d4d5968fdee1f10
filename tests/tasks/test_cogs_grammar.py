"""The grammar of COGS: what it takes from formulas, and which further formulas it allows."""

import pytest

from niwaki.answers._grammar import END, Grammar, check_rules, symbols
from niwaki.core.errors import InputError
from niwaki.tasks._cogs_grammar import Words, rules
from niwaki.tasks._notation import separate_symbols

FORMULAS = [
    "Emma",
    "sleep . agent ( x _ 1 , Emma )",
    "* cat ( x _ 1 ) ; sleep . agent ( x _ 2 , x _ 1 ) AND cat . nmod . on ( x _ 1 , x _ 4 ) AND mat ( x _ 4 )",
    "LAMBDA a . LAMBDA e . eat . theme ( e , a )",
]


@pytest.fixture(scope="module")
def accepts():
    found = rules(FORMULAS)
    check_rules(found)
    vocabulary = {symbol: number for number, symbol in enumerate(sorted(symbols(found) | {END}))}
    grammar = Grammar(found, vocabulary)

    def accept(formula: str) -> bool:
        words = separate_symbols(formula, "clauses").split()
        return all(word in vocabulary for word in words) and grammar.accepts([vocabulary[word] for word in words])

    return accept


def test_words_are_sorted_by_what_they_stand_for():
    words = Words()
    for formula in FORMULAS:
        words.add(formula)
    assert words.names == {"Emma"} and words.nouns == {"cat", "mat"} and words.verbs == {"sleep", "eat"}
    assert words.roles == {"agent", "theme"} and words.prepositions == {"on"}
    assert words.numbers == {"1", "2", "4"} and words.letters == {"a", "e"}


@pytest.mark.parametrize("formula", FORMULAS)
def test_every_train_formula_is_allowed(accepts, formula):
    assert accepts(formula)


@pytest.mark.parametrize(
    "formula",
    [
        "eat . agent ( x _ 2 , Emma )",  # a verb with the role of another
        "mat ( x _ 1 ) AND sleep . theme ( x _ 2 , x _ 1 )",
        "* mat ( x _ 2 ) ; * cat ( x _ 1 ) ; eat . agent ( x _ 4 , x _ 1 )",
        "mat . nmod . on ( x _ 1 , x _ 2 )",
        "LAMBDA e . sleep . agent ( e , e )",
    ],
)
def test_new_combinations_are_allowed(accepts, formula):
    assert accepts(formula)


@pytest.mark.parametrize(
    "formula",
    [
        "cat",  # no name
        "sleep ( x _ 1 )",  # a verb is no noun
        "cat . agent ( x _ 1 , Emma )",  # a noun has no roles
        "sleep . agent ( x _ 9 , Emma )",  # an unseen number
        "sleep . agent ( x _ 1 )",
        "cat ( x _ 1 ) AND",
        "* sleep . agent ( x _ 1 , Emma )",
        "LAMBDA a . sleep . agent ( x _ 1 , Emma )",  # letters are its variables
    ],
)
def test_other_texts_are_not(accepts, formula):
    assert not accepts(formula)


def test_a_word_may_be_noun_and_verb():
    found = rules(["sleep . agent ( x _ 1 , x _ 2 )", "sleep ( x _ 1 ) AND sleep . nmod . in ( x _ 1 , x _ 2 )"])
    check_rules(found)


@pytest.mark.parametrize(
    ("formula", "fault"),
    [
        ("LAMBDA a", "LAMBDA needs a letter and a dot"),
        ("sleep . agent x", "'sleep . agent x' has no arguments in brackets"),
        ("sleep . a . b . c ( x _ 1 )", "'sleep . a . b . c' is no noun, verb and role, or noun and preposition"),
        ("sleep . agent ( x _ one , Emma )", "'x _ one' is no variable and no name"),
    ],
)
def test_formulas_in_another_form_are_rejected_with_their_row(formula, fault):
    with pytest.raises(InputError) as caught:
        rules(["Emma", formula])
    assert str(caught.value).startswith(
        f"row 2 of the train rows is no formula in clauses ({fault}): {formula}; fix it"
    )
