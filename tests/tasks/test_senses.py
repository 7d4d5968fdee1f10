"""Senses as a task: rows to sentences with targets, predictions to senses."""

import numpy as np

from niwaki.answers._sense_inventory import LEXFILES
from niwaki.answers.senses import Target, tokens_of
from tasks.rows import TOKENIZER, counts


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


def test_weight_of_the_prior_is_tuned_on_validation_rows(sense_task):
    """Half of the words are the second sense of `film`. Where it is right, the network gives its file 1, elsewhere less; it gives `first` to the first
    sense everywhere. With 1.5 and 0.3, a weight of 0.25 keeps both kinds of words apart: 0.3 < 0.375 < 1."""
    rows = sense_task.splits()["validation"]
    encoded = sense_task.answer_type.encode(sense_task.inputs(rows), TOKENIZER, 32)
    second = [keys[0].startswith("film%1:02") for (keys,) in sense_task.gold(rows)]
    assert any(second) and not all(second)

    def tuned(first, second_is_wrong):
        logits = np.zeros((len(encoded.ids.values), len(sense_task.labels)), dtype=np.float32)
        for token, owner in zip(tokens_of(encoded, sense_task.inputs(rows)), second, strict=True):
            logits[token, 3 + 27], logits[token, -2] = 1.0 if owner else second_is_wrong, first
        return sense_task.tuned(logits, encoded, rows).prior_weight

    assert tuned(1.5, second_is_wrong=0.0) == 0.0  # the smallest of those that score best
    assert tuned(1.5, second_is_wrong=0.3) == 0.25
    assert tuned(0.5, second_is_wrong=0.3) == 0.75
    assert sense_task.answer_type.prior_weight == 1.0


def test_predicted_senses_are_parsed_from_text_or_a_list(sense_task):
    assert sense_task.scorer.parse_value("a b") == ["a", "b"] and sense_task.scorer.parse_value(["a", None]) == [
        "a",
        None,
    ]
