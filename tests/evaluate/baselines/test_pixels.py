"""Pixels and a linear model."""

import numpy as np
import pytest

from niwaki.evaluate.baselines.pixels import PixelsBaseline
from niwaki.tasks.image_classification import ImageClassification
from niwaki.tasks.shape_captions import ShapeCaptions


@pytest.mark.parametrize("shape", [(5, 7), (40, 35, 3)])
def test_brightness_is_learned(shape, tmp_path):
    """A linear model of pixels cannot miss it; images of any size are read."""
    draw = np.random.default_rng(0)
    bright = np.arange(60) % 2
    images = (draw.integers(0, 128, (60, *shape)) + 127 * bright.reshape(-1, *[1] * len(shape))).astype(np.uint8)
    np.savez(tmp_path / "rows.npz", images=images, labels=np.array(["dark", "light"])[bright])
    task = ImageClassification(path=str(tmp_path / "rows.npz"))
    baseline = PixelsBaseline(task, tmp_path)
    test = task.splits()["test"]
    assert baseline.fit()(task.inputs(test)) == task.gold(test)


def test_captions_have_no_linear_model(tmp_path):
    baseline = PixelsBaseline(ShapeCaptions(pairs=100, evaluation_pairs=20), tmp_path)
    assert baseline.fit_if_supported() is None and "cannot generate text" in baseline.note
