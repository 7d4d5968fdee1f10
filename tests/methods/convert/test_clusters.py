"""Clusters of given sizes."""

import itertools

import numpy as np

from niwaki.methods.convert._clusters import assigned, clusters_of


def test_separate_groups_of_the_wanted_sizes_are_found():
    centers = np.array([[0.0, 9.0], [9.0, 0.0]])
    points = centers[[0, 1, 1, 0, 0, 1]] + np.random.default_rng(0).normal(size=(6, 2))
    assert sorted(clusters_of(points, [3, 3], seed=1)) == [[0, 3, 4], [1, 2, 5]]


def test_the_assignment_is_the_cheapest_of_all():
    draw = np.random.default_rng(3)
    points, centers, sizes = draw.normal(size=(6, 3)), draw.normal(size=(3, 3)), [2, 1, 3]
    cost = lambda cluster: sum(((point - centers[one]) ** 2).sum() for point, one in zip(points, cluster, strict=True))  # noqa: E731
    every = set(itertools.permutations([0, 0, 1, 2, 2, 2]))
    assert np.isclose(cost(assigned(points, centers, sizes)), min(map(cost, every)))


def test_the_sizes_hold_and_the_seed_decides():
    points = np.random.default_rng(5).normal(size=(23, 4))
    found = clusters_of(points, [6, 6, 6, 5], seed=2)
    assert [len(own) for own in found] == [6, 6, 6, 5] and sorted(itertools.chain(*found)) == [*range(23)]
    assert found == clusters_of(points, [6, 6, 6, 5], seed=2)
