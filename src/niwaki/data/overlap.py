"""Rows of one part that stand in another too: what was trained on is no test."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from niwaki.data.digests import digests
from niwaki.data.scratch import slices, zeros

MIX = np.uint64(0x9E3779B97F4A7C15)  # odd, so that no two keys become one


def shared_rows(rows: pa.Table, others: pa.Table, columns: Sequence[str]) -> int:
    """How many of `rows` have the same cells in `columns` as one of `others`."""
    if not rows.num_rows:
        return 0
    mine, theirs = keys(rows, columns), keys(others, columns)
    different = np.unique(mine)
    found = np.zeros(len(different), dtype=bool)
    for piece in slices(len(theirs)):
        place = np.searchsorted(different, theirs[piece]).clip(max=len(different) - 1)
        found[place[different[place] == theirs[piece]]] = True
    return int(found[np.searchsorted(different, mine)].sum())


def keys(rows: pa.Table, columns: Sequence[str]) -> np.ndarray:
    """64 bits of the hash of each row's cells: two different rows have the same once in 10^19."""
    found = zeros(rows.num_rows, np.uint64)
    for column in columns:
        high, _ = digests(rows.column(column))
        for piece in slices(len(found)):
            found[piece] = found[piece] * MIX + high[piece]  # modulo 2^64
    return found
