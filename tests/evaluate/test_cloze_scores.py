import numpy as np
import pytest

from niwaki.core.errors import InputError
from niwaki.evaluate.cloze._cloze import Item
from niwaki.evaluate.cloze_scores import accuracy, cloze_scores, table

ITEMS = [Item("a ___", ("x", "y"), number % 2) for number in range(8)]


def test_the_likeliest_choice_counts():
    scores = np.array([[1.0, 0.0]] * 8)
    found = accuracy(ITEMS, scores)
    assert (
        found["value"] == 0.5 and found["scored"] == 8 and found["chance"] == 0.5 and found["low"] < 0.5 < found["high"]
    )
    scores[1, 0] = -np.inf  # one item has a choice that cannot be scored
    assert accuracy(ITEMS, scores)["value"] == pytest.approx(4 / 7)
    with pytest.raises(InputError, match="single token"):
        accuracy(ITEMS, np.full((8, 2), -np.inf))


def test_models_get_the_same_items():
    seen = []

    def right(items):
        seen.append(items)
        return np.eye(2)[[item.answer for item in items]]

    found = cloze_scores({"one": right, "two": lambda items: -right(items)}, ["negation"], 40, 0)
    models = found["cloze"]["negation"]["models"]
    assert (models["one"]["value"], models["two"]["value"]) == (1, 0) and seen[0] == seen[1]
    assert len(table(found).splitlines()) == 3
