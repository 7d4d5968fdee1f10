"""Grammars read off formulas: all of those are accepted, and whatever a random walk writes another parser accepts."""

import random
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from niwaki.answers._grammar import Grammar, to_bytes
from niwaki.core.errors import InputError
from niwaki.tasks._grammar_induction import induce_rules
from niwaki.tasks._notation import separate_symbols

FUNQL = [
    "answer(city(loc_2(stateid('new mexico'))))",
    "answer(count(intersection(city(cityid('austin', _)), loc_2(countryid('usa')))))",
    "answer(population_1(cityid('san jose', 'ca')))",
    "answer(state(all))",
    "answer(count(state(loc_2(countryid('usa')))))",
]
PROLOG = ["answer(A,(city(A),loc(A,B),const(B,stateid(ohio))))", "answer(A,count(B,state(B),A))"]
LAMBDA = [
    "( lambda $0 e ( and ( flight $0 ) ( from $0 ci0 ) ( to $0 ci1 ) ) )",
    "( lambda $0 e ( flight $0 ) )",
    "( lambda $0 e ( and ( flight $0 ) ( from $0 ap0 ) ( during_day $0 morning:pd ) ( to $0 ci0 ) ( airline $0 al0 ) ) )",
    "( lambda $0 e ( and ( airline $0 ) ( or ( from $0 ci0 ) ( to $0 ci2 ) ) ( during_day $0 late:pd ) ( flight $0 ) ) )",
    "( argmin $1 ( flight $1 ) ( fare $1 ) )",
]
COGS = [
    "Emma",
    "LAMBDA a . shark ( a )",
    "LAMBDA a . LAMBDA e . sleep . agent ( e , a )",
    "LAMBDA a . LAMBDA b . LAMBDA e . eat . agent ( e , b ) AND eat . theme ( e , a )",
    "* cat ( x _ 1 ) ; * rug ( x _ 4 ) ; sleep . agent ( x _ 2 , x _ 1 ) AND cat . nmod . on ( x _ 1 , x _ 4 )",
    "give . agent ( x _ 1 , Liam ) AND give . theme ( x _ 1 , x _ 3 ) AND cookie ( x _ 3 )",
    "cook ( x _ 1 ) AND cook . agent ( x _ 2 , x _ 1 )",
]
SETS = {"funql": (FUNQL, "calls"), "prolog": (PROLOG, "calls"), "lambda": (LAMBDA, "lists"), "cogs": (COGS, "clauses")}


def reduced(text, pattern):
    """Text with its innermost brackets replaced until there are none."""
    while (shorter := re.sub(pattern, "T", text)) != text:
        text = shorter
    return text


def is_call(text):
    text = re.sub(r"' [^'()]+ '", "T", text)
    return reduced(text, r"\b\w+ \( (?!\))[\w$]+(?: , [\w$]+)* \)|(?<!\w )\( \w+(?: , \w+)* \)") == "T"


def is_list(text):
    return re.fullmatch(r"T|[\w$:]+", reduced(text, r"\( [\w:=<>]+(?: [\w$:]+)* \)")) is not None


def is_cogs(text):
    variable, clause = (
        r"x _ \d+",
        r"(?:\w+ \( x _ \d+ \)|\w+ \. nmod \. \w+ \( x _ \d+ , x _ \d+ \)|\w+ \. \w+ \( x _ \d+ , (?:x _ \d+|[A-Z]\w+) \))",
    )
    plain = rf"(?:\* \w+ \( {variable} \) ; )*{clause}(?: AND {clause})*"
    clause = r"(?:\w+ \( \w \)|\w+(?: \. nmod)? \. \w+ \( \w , \w \))"
    bound = rf"(?:LAMBDA \w \. )+{clause}(?: AND {clause})*"
    return re.fullmatch(rf"[A-Z]\w+|{plain}|{bound}", text) is not None


PARSERS = {"funql": is_call, "prolog": is_call, "lambda": is_list, "cogs": is_cogs}


def grammar_of(formulas, notation):
    symbols = sorted({symbol for formula in formulas for symbol in separate_symbols(formula, notation).split()})
    vocabulary = {symbol: number for number, symbol in enumerate(["[PAD]", "[BOS]", "[EOS]", "[UNK]", *symbols])}
    return Grammar(induce_rules(formulas, notation), vocabulary), vocabulary


BUILT = {name: grammar_of(*some_set) for name, some_set in SETS.items()}


def accepts(name, formula):
    grammar, vocabulary = BUILT[name]
    return grammar.accepts([vocabulary[symbol] for symbol in separate_symbols(formula, SETS[name][1]).split()])


@pytest.mark.parametrize("name", SETS)
def test_all_train_formulas_are_accepted_by_it_and_by_the_other_parser(name):
    for formula in SETS[name][0]:
        assert accepts(name, formula) and PARSERS[name](separate_symbols(formula, SETS[name][1])), formula


@given(name=some.sampled_from(sorted(SETS)), seed=some.integers(0, 100_000), room=some.integers(12, 60))
def test_what_a_walk_generates_another_parser_accepts(name, seed, room):
    grammar, vocabulary = BUILT[name]
    names = {number: symbol for symbol, number in vocabulary.items()}
    draw, state, found = random.Random(seed), grammar.start(), []
    room = max(room, grammar.least(state))
    while state is not None:
        token = int(draw.choice(np.flatnonzero(grammar.allowed(state, room - len(found)))))
        found.append(names[token])
        state = grammar.after(state, token)
    assert found[-1] == "[EOS]" and len(found) <= room
    assert PARSERS[name](" ".join(found[:-1])), found


UNSEEN = [
    ("funql", "answer(count(city(all)))"),
    ("funql", "answer(intersection(state(all), loc_2(stateid('new mexico'))))"),
    ("lambda", "( lambda $0 e ( and ( flight $0 ) ( during_day $0 late:pd ) ( from $0 ci2 ) ) )"),
    (
        "lambda",
        "( lambda $0 e ( and ( flight $0 ) ( airline $0 al0 ) ( from $0 ap0 ) ( to $0 ap0 ) ( flight $0 ) ( flight $0 ) ) )",
    ),
    ("cogs", "sleep . theme ( x _ 1 , Emma ) AND shark . nmod . on ( x _ 2 , x _ 4 ) AND cook ( x _ 3 )"),
]


@pytest.mark.parametrize("name, formula", UNSEEN)
def test_formulas_of_the_same_kinds_need_not_have_been_seen(name, formula):
    assert accepts(name, formula)


WRONG = [
    ("funql", "answer(city(loc_2(stateid('new mexico')))"),  # a bracket too few
    ("funql", "answer(stateid(city(all)))"),  # a name is wanted
    ("funql", "answer(intersection(state(all)))"),  # takes two
    ("funql", "answer(cityid('austin'))"),
    ("funql", "answer(stateid(_))"),  # seen of cityid alone
    ("funql", "answer(stateid(''))"),
    ("funql", "answer(city(loc_2(stateid('new'))))"),  # half a name
    ("funql", "answer(city(loc_2(stateid('usa'))))"),  # a country's
    ("funql", "answer(city(loc_2(stateid('new jose'))))"),
    ("funql", "city(all)"),
    ("lambda", "( lambda $0 e ( from $0 morning:pd ) )"),  # a place is wanted
    ("lambda", "( lambda $0 e ( from $0 ) )"),
    ("lambda", "( lambda $0 e ( from $0 ci0 ci1 ) )"),
    ("lambda", "( lambda e $0 ( flight $0 ) )"),
    ("lambda", "( argmin $1 ( flight $1 ) )"),
    ("cogs", "Emma ( x _ 1 )"),
    ("cogs", "cat . agent ( x _ 1 , x _ 2 )"),  # a noun has no agent
    ("cogs", "* cat ( x _ 1 ) AND sleep . agent ( x _ 2 , x _ 1 )"),  # a semicolon is wanted
    ("cogs", "sleep . agent ( x _ 2 , a )"),
    ("cogs", "sleep . agent ( x _ 2 , x _ 1 ) AND"),
]


@pytest.mark.parametrize("name, formula", WRONG)
def test_what_is_not_well_formed_or_of_another_kind_is_not(name, formula):
    assert not accepts(name, formula)


def test_a_notation_without_a_grammar_has_none():
    assert induce_rules(["SELECT 1 ;"], "sql") is None and induce_rules(["I_JUMP I_RUN"], "") is None


def test_the_same_formulas_give_the_same_file_in_any_order():
    for formulas, notation in SETS.values():
        assert to_bytes(induce_rules(formulas, notation)) == to_bytes(induce_rules(formulas[::-1], notation))


@pytest.mark.parametrize(
    "formulas, notation, predicted",
    [
        (["f(a", "f(a)"], "calls", r"row 1 of the train rows is no formula in calls \('\)' is wanted"),
        (["( f a )", "( f a ) )"], "lists", "row 2 of the train rows is no formula in lists"),
        (["( ( f ) a )"], "lists", "where a name must be"),
        (["cat x _ 1"], "clauses", "has no arguments in brackets"),
        (["a . b . c . d ( x _ 1 )"], "clauses", "is no noun, verb and role"),
        (["f(" * 5000 + "a" + ")" * 5000], "calls", "too deep"),
        (["f(a, b)", "f(a(b), b)"], "calls", "'a' stands both alone and before a bracket"),
    ],
)
def test_train_formulas_that_are_none_are_rejected(formulas, notation, predicted):
    with pytest.raises(InputError, match=predicted):
        induce_rules(formulas, notation)
