"""Every cloze task: items of the kind that its docstring shows, as often right as wrong."""

import numpy as np
import pytest

from niwaki.evaluate.cloze._cloze import BLANK, CLOZE, Cloze, Item, balanced

EXAMPLES = {
    "age_comparison": Item("A 41 year old person is ___ than a 24 year old person.", ("older", "younger"), 0),
    "size_comparison": Item("The size of a bus is ___ than the size of a coin.", ("larger", "smaller"), 0),
    "negation": Item("It was ___ hot, it was really cold.", ("not", "really"), 0),
    "always_never": Item("A triangle ___ has three sides.", ("always", "never"), 0),
}


@pytest.mark.parametrize("name", CLOZE.names())
def test_items_are_different_balanced_and_repeatable(name):
    task = CLOZE.load(name, Cloze)()
    found = task.items(np.random.default_rng(0), 60)
    assert found == task.items(np.random.default_rng(0), 60) != task.items(np.random.default_rng(1), 60)
    assert len(set(found)) == len(found) == 2 * sum(item.answer for item in found) >= 40
    assert all(item.text.count(BLANK) == 1 and len(item.choices) == 2 for item in found)
    every = task.items(np.random.default_rng(0), 100_000)
    assert EXAMPLES[name] in every
    assert all(item.answer == EXAMPLES[name].answer for item in every if item.text == EXAMPLES[name].text)


def test_items_are_balanced():
    items = [Item(f"{n} {BLANK}", ("a", "b"), int(n > 6)) for n in range(10)]
    found = balanced(items * 2, np.random.default_rng(0), 100)
    assert len(found) == 6 and sum(item.answer for item in found) == 3
    assert len(balanced(items, np.random.default_rng(0), 4)) == 4
