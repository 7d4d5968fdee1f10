"""All kinds of groups of a task's rows."""

from niwaki.evaluate.changes.row_groups import row_groups, unknown_token


def test_rows_are_grouped_by_every_kind(answers, rows, inputs):
    found = row_groups(*answers, rows, inputs)
    kinds = {group.kind for group in found}
    assert {"class", "length", "rare words", "topic"} <= kinds
    assert all(len(group.rows) == len(inputs) and 0 < group.rows.sum() < len(inputs) for group in found)
    assert unknown_token(answers[0]) == answers[0].predictor.encoder.tokenizer.token_to_id("[UNK]")
