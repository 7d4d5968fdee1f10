"""Tasks that generate formulas: symbols, grammars, and formulas that are equal up to spaces or order."""

from typing import ClassVar

import pyarrow as pa
import pytest

from niwaki.answers._grammar import read
from niwaki.tasks._formula_task import FormulaTask

GOLD = ["answer(and(state(x),big(x)))", "answer(count(city(x)))"]


class Calls(FormulaTask):
    @property
    def formula_notation(self):
        return "calls"

    def splits(self):
        formulas = [f"answer({head}({kind}(x)))" for head in ("count", "sum") for kind in ("city", "river")]
        return {"train": pa.table({"text": ["which"] * 4, "target": formulas})}


class Unordered(Calls):
    unordered: ClassVar[tuple[str, ...]] = ("and",)


def stats(task, *predicted):
    rows = pa.table({"text": ["a", "b"], "target": GOLD})
    return task.scorer.example_stats(list(predicted), rows).tolist()


def test_symbols_are_separated_as_the_notation_says():
    assert Calls(path="x").separate_symbols("answer(city( x ))") == "answer ( city ( x ) )"


def test_spaces_do_not_count_and_order_does():
    task = Calls(path="x")
    assert stats(task, "answer( and( state(x) , big(x) ) )", "answer(count(state(x)))") == [[1], [0]]
    assert stats(task, "answer(and(big(x),state(x)))", GOLD[1]) == [[0], [1]]
    assert task.scorer.scores(task.scorer.example_stats(GOLD, pa.table({"text": ["a", "b"], "target": GOLD}))) == {
        "exact": 1.0
    }


def test_arguments_of_unordered_symbols_may_change_places():
    task = Unordered(path="x")
    turned = "answer(and(big(x),state(x)))"
    assert stats(task, turned, GOLD[1]) == [[0, 1], [1, 1]]
    assert stats(task, turned, "answer(count(river(x)))") == [[0, 1], [0, 0]]
    found = task.scorer.example_stats([turned, GOLD[1]], pa.table({"text": ["a", "b"], "target": GOLD}))
    assert task.scorer.scores(found) == {"exact": 0.5, "exact_unordered": 1.0}


@pytest.mark.parametrize("text", ["answer(and(", "", ")", "answer(state(x)) answer(state(x))"])
def test_what_is_no_formula_is_wrong(text):
    assert stats(Unordered(path="x"), text, GOLD[1])[0] == [0, 0]


def test_the_grammar_allows_new_combinations_and_needs_words():
    task = Calls(path="x", vocab_size=100)
    target = task.answer_type.target
    grammar = read(task.grammar(), target)
    for formula, allowed in (("answer(sum(river(x)))", True), ("answer(count(", False), ("city(x)", False)):
        assert grammar.accepts(target.encode(task.separate_symbols(formula)).ids) == allowed
    assert Calls(path="x", well_formed=False).grammar() == b""
    assert Calls(path="x", split="characters").grammar() == b""


def test_a_notation_must_be_stated():
    with pytest.raises(NotImplementedError):
        _ = FormulaTask(path="x").formula_notation
