"""What images go through."""

import numpy as np
import pytest
from PIL import Image

from niwaki.data.image_bytes import encode_array
from niwaki.data.image_preprocessor import ImagePreprocessor
from niwaki.data.pixels import PixelScale

SCALE = PixelScale(1 / 255, (0.5,) * 3, (0.5,) * 3)
PIXELS = np.random.default_rng(0).integers(0, 256, (13, 29, 3), dtype=np.uint8)


@pytest.mark.parametrize("resample", [0, 2, 3])
def test_images_are_resized_by_the_filter_and_cropped_in_the_middle(resample):
    steps = ImagePreprocessor(3, (12, 17), (8, 9), 1, SCALE, resample)
    whole = np.asarray(Image.fromarray(PIXELS).resize((17, 12), resample))
    found = steps([encode_array(PIXELS)]).values
    assert found.shape == (1, 3, 8, 9) and np.array_equal(found[0], whole[2:10, 4:13].transpose(2, 0, 1))


def test_images_of_the_size_stay_as_they_are():
    steps = ImagePreprocessor(1, (13, 29), None, 1, PixelScale(1.0, (0.0,), (1.0,)))
    found = steps([encode_array(PIXELS[..., 0])])
    assert np.array_equal(found.padded([0])[0], PIXELS[None, None, ..., 0].astype(np.float32))
