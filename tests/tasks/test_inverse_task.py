"""Rows of inverse problems, and how candidates are scored."""

import pytest

from niwaki.core.errors import InputError
from niwaki.tasks import TASKS
from niwaki.tasks._inverse_task import InverseTask
from niwaki.tasks._task import Task
from niwaki.tasks.factoring import Factoring

NAMES = [name for name in TASKS.names() if issubclass(TASKS.load(name, Task), InverseTask)]


@pytest.fixture(scope="module")
def task():
    return Factoring(pairs=120, evaluation_pairs=20)


def test_each_problem_has_a_task():
    from niwaki.data.problems import PROBLEMS

    assert sorted(NAMES) == sorted(PROBLEMS.names())


@pytest.mark.parametrize("name", NAMES)
def test_the_longest_answers_are_not_cut(name):
    own = TASKS.load(name, Task)(pairs=100, evaluation_pairs=20)
    assert max(len(target.split()) for target in own.gold(own.splits()["train"])) < own.max_new_tokens


def test_rows_are_generated_and_parts_share_no_question(task):
    parts = task.splits()
    assert {name: rows.num_rows for name, rows in parts.items()} == {"train": 120, "validation": 20, "test": 20}
    texts = [set(rows.column("text").to_pylist()) for rows in parts.values()]
    assert not texts[0] & texts[1] and not texts[1] & texts[2] and not texts[0] & texts[2]
    assert Factoring(pairs=120, evaluation_pairs=20).data.fingerprint() == task.data.fingerprint()
    assert Factoring(pairs=120, evaluation_pairs=20, draw=1).data.fingerprint() != task.data.fingerprint()


def test_scores_count_verified_first_and_exact_answers(task):
    rows = task.splits()["test"].slice(0, 4)
    gold = task.gold(rows)
    turned = " times ".join(reversed(gold[1].split(" times ")))
    values = [
        {"text": gold[0], "verified": True, "rank": 1},
        {"text": turned, "verified": True, "rank": 3},
        {"text": "plus 1", "verified": False, "rank": 1},
        gold[3],  # of a file of predictions
    ]
    stats = task.scorer.example_stats(values, rows)
    same = int(turned == gold[1])
    assert stats.tolist() == [[1, 1, 1], [1, 0, same], [0, 0, 0], [1, 1, 1]]
    assert task.scorer.scores(stats) == {"verified": 0.75, "verified_at_1": 0.5, "exact": (2 + same) / 4}
    assert not task.scorer.all_wrong(stats).any()


def test_answers_in_a_file_are_verified_again(task):
    rows = task.splits()["test"].slice(0, 3)
    gold = task.gold(rows)
    cells = [
        {"text": gold[0], "verified": False, "rank": 2},
        {"text": "plus 1", "verified": True, "rank": 1},
        gold[2],
    ]
    values = [task.scorer.parse_value(cell) for cell in cells]
    assert task.scorer.example_stats(values, rows).tolist() == [[1, 0, 1], [0, 0, 0], [1, 1, 1]]
    assert task.scorer.parse_value({"other": 1}) == "{'other': 1}"


@pytest.mark.parametrize("name", NAMES)
def test_a_path_is_rejected(name):
    with pytest.raises(InputError, match=f"^data.path: task '{name}' has rows of its own; take task 'generation'"):
        TASKS.load(name, Task)(path="rows.csv").splits()


def test_verified_answers_of_a_teacher_become_targets(task):
    rows = task.splits()["train"].slice(0, 2)
    found = task.with_answers(rows, [{"text": "a", "verified": True}, {"text": "b", "verified": False}])
    assert found.column("target").to_pylist() == ["a", "b"]
