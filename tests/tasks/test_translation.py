"""Translations: your own pairs, and Multi30k laid out as it comes."""

import pytest

from niwaki.tasks.translation import Translation
from tasks.rows import TEXTS, csv
from tasks.translations import NAMES


def test_pairs_of_the_user_are_read(tmp_path):
    path = csv(
        tmp_path / "rows.csv", "en,de", [f"{text} {number},zu {number} {text}" for number, text in enumerate(TEXTS)]
    )
    task = Translation(path=path, **NAMES)
    test = task.splits()["test"]
    gold = task.gold(test)
    assert all(target.startswith("zu ") for target in gold) and task.metric == "bleu"
    found = task.scorer.scores(task.scorer.example_stats(gold, test))
    assert found == pytest.approx({"bleu": 1, "chrf": 1, "exact": 1})
    separate_symbols = task.scorer.scores(
        task.scorer.example_stats([f" {text.replace(' ', '  ')}\n" for text in gold], test)
    )
    assert separate_symbols == pytest.approx(found)  # spaces are no part of a translation
    assert task.scorer.scores(task.scorer.example_stats([""] * len(gold), test)) == {"bleu": 0, "chrf": 0, "exact": 0}


def test_caveat_contains_the_signature_of_sacrebleu(tmp_path):
    path = csv(tmp_path / "rows.csv", "en,de", [f"{text} {number},x" for number, text in enumerate(TEXTS)])
    predicted = Translation(path=path, **NAMES).data.caveats
    assert "divided by 100: BLEU nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:" in predicted


def test_predictions_are_parsed_from_a_file():
    task = Translation(path="x")
    assert task.scorer.parse_value("ein Haus") == "ein Haus" and task.scorer.parse_value(None) == ""
    with pytest.raises(TypeError, match="given: int"):
        task.scorer.parse_value(3)
