"""Which candidate is chosen."""

from niwaki.compression.budget import Budget
from niwaki.compression.candidates import SOURCE
from niwaki.compression.judge import Candidate, Goal, choose, judged


def candidate(name, score, size, faster=1.0, latency=1.0):
    return Candidate(
        name, score, score / 0.9, None, None, score, score, score, size, 100 / size, latency, faster, "onnx"
    )


def judged_all(goal, *candidates):
    return [judged(one, 0.9, goal) for one in candidates]


ALL = (
    candidate(SOURCE, 0.90, 100),
    candidate("int8", 0.895, 25, faster=4.0, latency=0.5),
    candidate("4bit", 0.88, 15, faster=3.0),
    candidate("tiny", 0.70, 2, faster=9.0),
)


def test_the_smallest_good_candidate_is_chosen():
    assert choose(judged_all(Goal(0.97, Budget(), "size"), *ALL), "size").name == "4bit"
    assert choose(judged_all(Goal(0.99, Budget(), "size"), *ALL), "size").name == "int8"
    assert choose(judged_all(Goal(0.5, Budget(), "size"), *ALL), "size").name == "tiny"


def test_the_fastest_is_chosen_if_speed_is_preferred():
    assert choose(judged_all(Goal(0.97, Budget(), "speed"), *ALL), "speed").name == "int8"


def test_candidates_over_the_budget_are_left_out():
    assert choose(judged_all(Goal(0.97, Budget(bytes=20), "size"), *ALL), "size").name == "4bit"
    assert choose(judged_all(Goal(0.99, Budget(bytes=20), "size"), *ALL), "size") is None
    assert choose(judged_all(Goal(0.97, Budget(latency_ms=0.7), "size"), *ALL), "size").name == "int8"


def test_of_equal_sizes_the_better_score_wins():
    near = (candidate("a", 0.88, 100), candidate("b", 0.89, 104))
    assert choose(judged_all(Goal(0.9, Budget(), "size"), *near), "size").name == "b"


def test_the_source_is_never_chosen():
    assert choose(judged_all(Goal(0.1, Budget(), "size"), ALL[0]), "size") is None


def test_a_source_without_a_positive_score_accepts_only_equal_ones():
    goal = Goal(0.5, Budget(), "size")
    assert judged(candidate("a", -0.1, 10), -0.1, goal).good_enough
    assert not judged(candidate("a", -0.2, 10), -0.1, goal).good_enough
