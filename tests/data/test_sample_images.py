"""Parts of photographs."""

import numpy as np

from niwaki.data.image_bytes import decode
from niwaki.data.sample_images import SIDE, sample_images


def test_parts_differ_and_are_the_same_at_every_call():
    found = sample_images()
    assert len({one.data for one in found}) == len(found) == 2 * 4 * 6
    assert [one.data for one in sample_images()[:3]] == [one.data for one in found[:3]]
    assert np.asarray(decode(found[-1], 3)).shape == (SIDE, SIDE, 3)
