"""Handwritten digits (Alpaydin and Kaynak 1998): 1,797 images of 8 × 8 grey values, as scikit-learn brings them."""

from typing import ClassVar

import numpy as np
import pyarrow as pa

from niwaki.data.image_rows import array_table
from niwaki.tasks._declarations import Published
from niwaki.tasks.image_classification import ImageClassification

LEVELS = 16  # of grey


class Digits(ImageClassification):
    published: ClassVar[Published] = Published(embedded=True)
    label_names: ClassVar[tuple[str, ...]] = tuple("0123456789")
    description: ClassVar[str] = "handwritten digits, 8 × 8 pixels"

    def read_parts(self) -> dict[str, pa.Table]:
        from sklearn.datasets import load_digits

        found = load_digits()
        pixels = (found.images * (255 / LEVELS)).round().astype(np.uint8)
        return {"all": array_table(pixels, found.target, self.data.source)}
