"""Senses as a task: rows to sentences with targets, predictions to senses."""

from niwaki.answers._sense_inventory import LEXFILES
from niwaki.answers.senses import Target
from tasks.rows import counts


def test_rows_become_sentences_with_targets(sense_task):
    assert sum(counts(sense_task).values()) == 40
    rows = sense_task.splits()["train"]
    (first, *_), (gold, *_) = sense_task.inputs(rows), sense_task.gold(rows)
    assert first.targets == [Target(1, "film", "noun")] and first.words[1] == "film" and gold[0][0].startswith("film%1")
    assert len(sense_task.labels) == 3 + LEXFILES + 3 and sense_task.head.architecture == "TokenClassification"
    assert set(sense_task.texts(rows)) >= {"film", "superb"}
    assert sense_task.data.remarks()[0].endswith(
        "rows.jsonl: senses, tokens: tokens, lemmas: lemmas, pos: pos, senses: sense_keys"
    )


def test_predicted_senses_are_parsed_from_text_or_a_list(sense_task):
    assert sense_task.scorer.parse_value("a b") == ["a", "b"] and sense_task.scorer.parse_value(["a", None]) == [
        "a",
        None,
    ]
