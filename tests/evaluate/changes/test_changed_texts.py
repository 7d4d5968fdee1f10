"""Changed texts: the order by confidence, and what of a value is shown."""

import json

import numpy as np

from niwaki.evaluate.changes.changed_texts import MOST_LETTERS, changed_texts, shown


def test_confident_changes_come_first(answers, rows, inputs):
    changed = np.array([a != b for a, b in zip(answers[0].values, answers[1].values, strict=True)])
    assert changed.any()
    found = changed_texts(*answers, inputs, rows.task.gold(rows.table), changed)
    assert sorted(row["row"] for row in found) == np.flatnonzero(changed).tolist()
    sure = [min(row["a"]["confidence"], row["b"]["confidence"]) for row in found]
    assert sure == sorted(sure, reverse=True)
    for row in found:
        assert row["kind"] == ("fixed" if row["b"]["value"] == row["gold"] else "broken")
        assert row["text"] == inputs[row["row"]]


def test_values_are_shown_as_text():
    assert shown(("one", ["x", "y"])) == 'one\n["x", "y"]' and shown(1.5) == "1.5"
    assert len(shown("x" * 10**6)) == MOST_LETTERS and json.loads(shown([{"a": "ü"}])) == [{"a": "ü"}]
