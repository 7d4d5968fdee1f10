"""What holds for every problem: pairs are the same again, answers are right, parts share no question, candidates are bounded."""

from itertools import pairwise

import pytest

from niwaki.data.problems import PROBLEMS
from niwaki.data.problems._problem import MAX_TOKENS, pairs, part_of, problem_of

NAMES = PROBLEMS.names()


@pytest.mark.parametrize("name", NAMES)
def test_pairs_follow_from_seed_and_index(name):
    problem = problem_of(name)
    found = [problem.pair(3, index) for index in range(25)]
    assert [type(problem)().pair(3, index) for index in reversed(range(25))] == found[::-1]
    assert len({question for question, _ in found}) > 15
    assert found != [problem.pair(4, index) for index in range(25)]


@pytest.mark.parametrize("name", NAMES)
def test_generated_answers_are_right_and_those_of_other_questions_are_not(name):
    problem = problem_of(name)
    found = [problem.pair(5, index) for index in range(12)]
    assert all(problem.verify(*pair) for pair in found)
    others = [(one, other) for (one, first), (_, other) in pairwise(found) if first != other]
    assert sum(problem.verify(*pair) for pair in others) <= 1


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "candidate",
    [
        "",
        "?",
        "x" + " x" * MAX_TOKENS,
        "add " * 200,
        "open " * 290,
        "__import__('os').system('false')",
        "pow pos 9 9 9 9 9 9 x",
    ],
)
def test_malformed_candidates_are_wrong(name, candidate):
    problem = problem_of(name)
    assert not problem.verify(problem.pair(0, 1)[0], candidate)
    assert not problem.verify(candidate, problem.pair(0, 1)[1])


def test_parts_share_no_question_and_have_the_counts():
    counts = {"train": 150, "validation": 5, "test": 4}
    rows = list(pairs(problem_of("constrained_text"), 0, counts))
    questions = {part: {question for own, question, _ in rows if own == part} for part in counts}
    assert {part: sum(own == part for own, _, _ in rows) for part in counts} == counts
    assert all(part_of(question) == part for part, some in questions.items() for question in some)
    more = list(pairs(problem_of("constrained_text"), 0, {**counts, "train": 180}))
    assert [row for row in more if row[0] == "train"][:150] == [row for row in rows if row[0] == "train"]
