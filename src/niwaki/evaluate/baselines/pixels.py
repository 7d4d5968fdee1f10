"""Pixels and a linear model: images of at most 32 × 32 pixels, without any network."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from niwaki.answers._answer_type import Input
from niwaki.data.image_preprocessor import ImagePreprocessor
from niwaki.data.pixels import PixelScale
from niwaki.evaluate.baseline import Baseline, PredictFunction
from niwaki.evaluate.baselines._dense import Dense
from niwaki.evaluate.baselines._linear import LinearModel
from niwaki.evaluate.baselines._unsupported import NO_WRITING

SIDE = 32
SCALE = PixelScale(1 / 255, (0.5,) * 3, (0.5,) * 3)


class PixelsBaseline(Baseline):
    name = "pixels + linear model"
    max_rows = 20_000
    unsupported: ClassVar[dict[str, str]] = {"image_caption": NO_WRITING}

    def fit(self) -> PredictFunction:
        train = self.train()
        side = min(SIDE, *_size_of_first(self.task.inputs(train.slice(0, 1))[0]))
        resize = ImagePreprocessor(3, (side, side), None, 1, SCALE)
        return LinearModel(self.task, train, [Dense(lambda inputs: pixels(resize, inputs))])


def pixels(resize: ImagePreprocessor, inputs: Sequence[Input]) -> np.ndarray:
    """(images, pixels × 3)"""
    return resize.scale(resize(inputs).values).reshape(len(inputs), -1)


def _size_of_first(image: Input) -> tuple[int, int]:
    from niwaki.data.image_bytes import decode

    return decode(image, 3).size
