"""Encoded rows with targets."""

import numpy as np
import pytest

from niwaki.answers._answer_type import EncodedInputs
from niwaki.data.ragged import Ragged
from niwaki.models.features import Features


def rows(*lengths: int, group: int = 1) -> EncodedInputs:
    starts = np.concatenate([[0], np.cumsum(lengths)])
    ids, types = (Ragged(np.arange(starts[-1], dtype=kind), starts) for kind in (np.int32, np.uint8))
    arrays = {"input_ids": ids, "token_type_ids": types}
    return EncodedInputs(arrays, np.repeat(np.arange(len(lengths) // group), group), [], group)


def test_the_longest_sequence_of_a_row_counts():
    features = Features(rows(3, 5, 2, 1, group=2), np.array([0, 1]))
    assert len(features) == 2 and features.lengths.tolist() == [5, 2]


def test_a_target_may_be_the_longest():
    targets = Ragged(np.arange(8, dtype=np.int32), np.array([0, 2, 8]))
    assert Features(rows(3, 5), targets).lengths.tolist() == [3, 6]


@pytest.mark.parametrize("ragged", [False, True])
def test_joined_rows_follow_one_another(ragged):
    targets = [
        Ragged(np.array(row, np.int32), np.array([0, len(row)])) if ragged else np.array(row) for row in ([7], [8])
    ]
    both = Features(rows(3), targets[0]).joined(Features(rows(2), targets[1]))
    assert len(both) == 2 and both.lengths.tolist() == [3, 2]
    values = both.targets.values if isinstance(both.targets, Ragged) else both.targets
    assert values.tolist() == [7, 8] and both.rows.input_index.tolist() == [0, 1]
