"""Images to try a model on: parts of the two photographs that come with scikit-learn."""

import numpy as np

from niwaki.data.image_bytes import EncodedImage, encode_array

SIDE = 96


def sample_images() -> list[EncodedImage]:
    """The same ones at every call."""
    from sklearn.datasets import load_sample_images

    photographs = [np.asarray(one, dtype=np.uint8) for one in load_sample_images().images]
    return [
        encode_array(one[top : top + SIDE, left : left + SIDE], f"sample {number}, {top}, {left}")
        for number, one in enumerate(photographs)
        for top in range(0, one.shape[0] - SIDE + 1, SIDE)
        for left in range(0, one.shape[1] - SIDE + 1, SIDE)
    ]
