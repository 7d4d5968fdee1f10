"""Clusters of given sizes: k-means whose assignment fills every cluster exactly."""

from collections.abc import Sequence

import numpy as np

ROUNDS = 10  # of assignment and new centers; fewer where nothing changes


def clusters_of(points: np.ndarray, sizes: Sequence[int], seed: int) -> list[list[int]]:
    """The numbers of the points (points, dimensions) in each cluster, ascending. Centers begin as plain k-means leaves them; then points are
    assigned so that the sum of squared distances is the least that the sizes allow."""
    from sklearn.cluster import KMeans

    plain = KMeans(len(sizes), n_init=1, random_state=seed % 2**32).fit(points)
    centers, before = plain.cluster_centers_, None
    for _ in range(ROUNDS):
        cluster = assigned(points, centers, sizes)
        if before is not None and (cluster == before).all():
            break
        centers = np.stack([points[cluster == number].mean(axis=0) for number in range(len(sizes))])
        before = cluster
    return [np.flatnonzero(cluster == number).tolist() for number in range(len(sizes))]


def assigned(points: np.ndarray, centers: np.ndarray, sizes: Sequence[int]) -> np.ndarray:
    """The cluster of each point, (points,): the cheapest assignment with these sizes."""
    from scipy.optimize import linear_sum_assignment

    costs = (centers**2).sum(axis=1)[
        None
    ] - 2 * points @ centers.T  # the squared norm of a point is the same everywhere
    owners = np.repeat(np.arange(len(sizes)), sizes)
    rows, places = linear_sum_assignment(costs[:, owners])
    return owners[places[np.argsort(rows)]]
