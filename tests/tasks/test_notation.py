"""Formulas apart and together again; trees; order that means nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as some

from niwaki.tasks._notation import Tree, joined, parse, separate_symbols, sorted_within


def test_calls_by_hand():
    formula = "answer(population_1(cityid('new york', _)))"
    apart = "answer ( population_1 ( cityid ( ' new york ' , _ ) ) )"
    assert separate_symbols(formula, "calls") == apart and joined(apart, "calls") == formula
    assert separate_symbols(apart, "calls") == apart  # what is apart stays as it is
    tree = parse(formula, "calls")
    assert tree.arguments[0].arguments[0] == Tree("cityid", (Tree("' new york '"), Tree("_")))


def test_sql_by_hand():
    formula = 'SELECT A.NAME FROM CITY AS A WHERE A.STATE = "new york" ;'
    apart = 'SELECT A.NAME FROM CITY AS A WHERE A.STATE = " new york " ;'
    assert separate_symbols(formula, "sql") == apart and joined(apart, "sql") == formula


def test_lists_and_a_conjunction_without_a_name():
    assert parse("( from $0 ci0 )", "lists") == Tree("from", (Tree("$0"), Tree("ci0")))
    assert parse("answer(A,(city(A),loc(A,B)))", "calls").arguments[1].head == ""


names = some.text("abcxyz_0", min_size=1, max_size=6)
quoted = some.lists(names, min_size=1, max_size=3).map(lambda words: f"'{' '.join(words)}'")
terms = some.recursive(
    names | quoted,
    lambda inner: some.tuples(names, some.lists(inner, min_size=1, max_size=3)).map(
        lambda call: f"{call[0]}({', '.join(call[1])})"
    ),
    max_leaves=8,
)


@given(terms)
def test_what_is_set_apart_is_put_together_again(formula):
    apart = separate_symbols(formula, "calls")
    assert joined(apart, "calls") == formula and parse(apart, "calls") == parse(formula, "calls")
    assert not {"(", ")", ",", "'"} & {sign for symbol in apart.split() if len(symbol) > 1 for sign in symbol}


@pytest.mark.parametrize(
    "formula, notation",
    [
        ("f(a", "calls"),
        ("f a)", "calls"),
        ("f(,a)", "calls"),
        ("f()", "calls"),
        ("f('a)", "calls"),
        ("f('')", "calls"),
        ("", "calls"),
        ("f(a) g", "calls"),
        ("( f a", "lists"),
        (") f", "lists"),
        ("( )", "lists"),
        ("", "lists"),
        ("( f a ) b", "lists"),
        ("( " * 300 + "f", "lists"),
        ("f(" * 300, "calls"),
    ],
)
def test_what_is_no_formula_is_none(formula, notation):
    with pytest.raises(ValueError):
        parse(formula, notation)


def test_order_means_nothing_to_some_symbols_alone():
    one, other = "( and ( from $0 ci0 ) ( or ( x $0 ) ( y $0 ) ) )", "( and ( or ( y $0 ) ( x $0 ) ) ( from $0 ci0 ) )"
    trees = [sorted_within(parse(text, "lists"), ("and", "or")) for text in (one, other)]
    assert trees[0] == trees[1] and sorted_within(parse(one, "lists"), ("or",)) != sorted_within(
        parse(other, "lists"), ("or",)
    )
    swapped = parse("( and ( from ci0 $0 ) ( or ( x $0 ) ( y $0 ) ) )", "lists")
    assert sorted_within(swapped, ("and", "or")) != trees[0]
