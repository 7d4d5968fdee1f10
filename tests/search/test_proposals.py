"""Proposals follow from the seed and the losses: the same after a kill, better than random ones, and never twice the same."""

import numpy as np
import pytest

from niwaki.search.proposals import Proposals, key_of
from niwaki.search.space import ORDER, Dimension, Space


def small_space(values: int = 5) -> Space:
    numbers = tuple(range(values))
    dimensions = (Dimension(ORDER, ("a", "b", "a > b")), Dimension("stages.a.x", numbers, "a"))
    return Space({}, "source", ("a", "b"), (*dimensions, Dimension("stages.b.y", numbers, "b")))


def value_of(point) -> float:
    """Least at a > b with x = 4 and y = 0; points without a stage lose 3."""
    return float((4 - point.get("stages.a.x", 1)) ** 2 + point.get("stages.b.y", 3) ** 2) / 10


def tried(proposals: Proposals, count: int, objectives: int = 1) -> list[dict]:
    found = []
    for _ in range(count):
        point = proposals.next()
        if point is None:
            break
        proposals.tell(point, [value_of(point)] * objectives)
        found.append(dict(point))
    return found


@pytest.mark.parametrize("sampler", ["tpe", "nsga2", "random", "grid"])
def test_a_search_that_starts_again_goes_on_alike(sampler):
    objectives = 2 if sampler == "nsga2" else 1
    whole = tried(Proposals(small_space(), sampler, 3, objectives), 14, objectives)
    again = Proposals(small_space(), sampler, 3, objectives)
    assert tried(again, 11, objectives) == whole[:11]
    third = Proposals(small_space(), sampler, 3, objectives)  # killed after 11 trials
    assert tried(third, 14, objectives) == whole
    if sampler != "grid":
        assert tried(Proposals(small_space(), sampler, 4, objectives), 14, objectives) != whole


@pytest.mark.parametrize("sampler", ["tpe", "nsga2", "random", "grid"])
def test_every_point_is_proposed_once_until_none_is_left(sampler):
    space, objectives = small_space(2), 2 if sampler == "nsga2" else 1
    found = tried(Proposals(space, sampler, 0, objectives), 100, objectives)
    assert len(found) == len({key_of(point) for point in found}) == space.size() == 8


def test_large_spaces_are_not_listed_to_find_an_unknown_point(monkeypatch):
    monkeypatch.setattr("niwaki.search.proposals.ENUMERATED", 0)
    monkeypatch.setattr(Space, "points", None)
    found = tried(Proposals(small_space(2), "random", 0), 8)
    assert len({key_of(point) for point in found}) == 8


def test_tpe_finds_better_points_than_random_draws():
    space = small_space(12)
    best = {
        sampler: np.mean([min(map(value_of, tried(Proposals(space, sampler, seed), 30))) for seed in range(3)])
        for sampler in ("tpe", "random")
    }
    assert best["tpe"] < best["random"]


def test_importance_is_that_of_the_dimension_that_matters():
    proposals = Proposals(small_space(), "random", 0)
    while (point := proposals.next()) is not None:
        proposals.tell(point, [float(len(str(point[ORDER])) > 1)])
    assert max(proposals.importance().items(), key=lambda item: item[1])[0] == ORDER
    assert Proposals(small_space(), "random", 0).importance() == {}
