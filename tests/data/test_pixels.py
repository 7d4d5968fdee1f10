"""Arrays of images: scale, slices, joining, and on disk where they are many."""

import numpy as np
import pytest

from niwaki.data import scratch
from niwaki.data.pixels import Pixels, PixelsBuilder, PixelScale

SCALE = PixelScale(1 / 255, (0.5, 0.25), (0.5, 0.125))
VALUES = np.random.default_rng(0).integers(0, 256, (5, 2, 3, 4), dtype=np.uint8)


def written(values):
    builder = PixelsBuilder(values.shape[1:], 7, SCALE)
    for image in values:
        builder.add(image)
    return builder.done()


def test_bytes_become_normalized_floats_by_channel():
    values = np.array([[[[0, 255]], [[51, 102]]]], dtype=np.uint8)  # (1, 2, 1, 2)
    found, mask = Pixels(values, 7, SCALE).padded([0])
    np.testing.assert_allclose(found, [[[[-1, 1]], [[-0.4, 1.2]]]], atol=1e-6)
    assert found.dtype == np.float32 and mask.shape == (1, 7) and mask.all()


@pytest.mark.parametrize("limit", [8, 1 << 20])
def test_rows_are_taken_joined_and_sliced(limit, monkeypatch):
    monkeypatch.setattr(scratch, "LIMIT_BYTES", limit)
    first, second = written(VALUES[:2]), written(VALUES[2:])
    found = first.joined(second)
    assert len(found) == 5 and found.lengths.tolist() == [7] * 5
    assert np.array_equal(found.values, VALUES)
    assert np.array_equal(found.stretch(range(1, 4)).values, VALUES[1:4])
    np.testing.assert_array_equal(found.padded([4, 0])[0], SCALE(VALUES[[4, 0]]))
