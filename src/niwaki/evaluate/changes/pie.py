"""PIE, pruning-identified exemplars: rows on which the most frequent label of compressed seeds differs from that of dense seeds.

Paper: Hooker et al. 2019, What Do Compressed Deep Neural Networks Forget? (arXiv 1911.05248). Two sets from disjoint seeds that overlap
more than chance show that certain inputs pay for compression, not random ones.
"""

from collections.abc import Sequence

import numpy as np

from niwaki.answers._answer_type import Value
from niwaki.core.json_types import Json
from niwaki.evaluate.changes.churn import Same, changed_rows, share

Seeds = Sequence[Sequence[Value]]  # the values of each seed


def modal_values(seeds: Seeds, same: Same) -> list[Value]:
    """The most frequent answer to each row; of equally frequent ones, that of the earliest seed."""
    return [max(row, key=lambda value: sum(same(value, other) for other in row)) for row in zip(*seeds, strict=True)]


def pie_rows(dense: Seeds, compressed: Seeds, same: Same) -> np.ndarray:
    """(rows,) whether the row is an exemplar."""
    return changed_rows(modal_values(dense, same), modal_values(compressed, same), same)


def overlap(first: np.ndarray, second: np.ndarray) -> Json:
    """Rows in both sets, next to chance: the p-value is hypergeometric, that of as many common rows in two random sets of these sizes."""
    from scipy.stats import hypergeom

    rows, sizes, both = len(first), (int(first.sum()), int(second.sum())), int((first & second).sum())
    expected = sizes[0] * sizes[1] / rows
    return {
        "first": sizes[0],
        "second": sizes[1],
        "both": both,
        "expected": expected,
        "times": both / expected if expected else None,
        "p": float(hypergeom.sf(both - 1, rows, *sizes)),
    }


def pie(dense: Seeds, compressed: Seeds, same: Same) -> Json:
    """The exemplars of all seeds; with two seeds per half or more, also the overlap of the halves, and how many rows differ between the
    dense halves: what new seeds change without any compression."""
    found = pie_rows(dense, compressed, same)
    half = min(len(dense), len(compressed)) // 2
    result: Json = {
        "seeds": [len(dense), len(compressed)],
        "share": share(int(found.sum()), len(found)),
        "rows": np.flatnonzero(found).tolist(),
        "halves": None,
    }
    if half < 2:
        return result
    sets = [pie_rows(dense[at : at + half], compressed[at : at + half], same) for at in (0, half)]
    between = pie_rows(dense[:half], dense[half : 2 * half], same)
    result["halves"] = {
        "seeds": half,
        **overlap(*sets),
        "between_dense": share(int(between.sum()), len(between)),
    }
    return result
