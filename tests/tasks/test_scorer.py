"""What scorers inherit: logits to metrics, errors of rows, and wrong answers."""

import numpy as np
import pytest

from niwaki.answers.label import Label
from niwaki.tasks._scorer import Scorer
from niwaki.tasks.classification import Classification

from .rows import TOKENIZER


class Plain(Scorer[Classification]):
    """Statistics: whether the answer is right, and a number that is not about being right."""

    def example_stats(self, values, rows):
        return np.array([[value == gold, 7] for value, gold in zip(values, self.task.gold(rows), strict=True)])

    def scores(self, example_stats):
        return {"accuracy": float(example_stats[:, 0].mean())}


@pytest.fixture
def task(rows_csv):
    return Classification(path=str(rows_csv))


def test_logits_are_scored_as_answers(task):
    table = task.splits()["validation"].slice(0, 8)
    rows = Label().encode(task.inputs(table), TOKENIZER, 32)
    right = np.array([[0.0, 1.0] if gold == "good" else [1.0, 0.0] for gold in task.gold(table)])
    logits = right.copy()
    logits[:2] = logits[:2, ::-1]  # two wrong answers
    assert Plain(task).score_logits(logits, rows, table) == 0.75
    assert Plain(task).score_logits(right, rows, table) == 1.0
    assert Plain(task).logit_errors(logits, rows, table) is None


def test_errors_of_logits_are_those_of_the_answers(task):
    class WithErrors(Plain):
        def errors(self, example_stats):
            return 1.0 - example_stats[:, 0]

    table = task.splits()["validation"].slice(0, 3)
    rows = Label().encode(task.inputs(table), TOKENIZER, 32)
    logits = np.tile([0.0, 1.0], (3, 1))
    wrong = [float(gold != "good") for gold in task.gold(table)]
    assert WithErrors(task).logit_errors(logits, rows, table).tolist() == wrong


def test_all_wrong_changes_what_counts_as_correct(task):
    stats = np.array([[1, 7], [0, 7]])
    assert Plain(task).all_wrong(stats).tolist() == [[0, 7], [0, 7]] and stats[0, 0] == 1


def test_cells_are_answers_and_there_is_nothing_to_note(task):
    scorer = Plain(task)
    assert scorer.parse_value("good") == "good" and scorer.note() == ""
    assert scorer.errors(np.zeros((2, 2))) is None
