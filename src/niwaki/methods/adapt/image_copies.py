"""Random crops and mirror images: training images are added again, each moved by some pixels and, half of them, mirrored.

A copy follows from the image and its number alone, so teachers answer it once (the cache holds one answer for each copy) and students
learn from the same pixels that their teacher saw.

Paper: He et al. 2016, Deep Residual Learning for Image Recognition (arXiv 1512.03385), section 4.2; copies that teacher and student share as
in Beyer et al. 2022, Knowledge Distillation: A Good Teacher Is Patient and Consistent (arXiv 2106.05237).
Cost: as many more rows in an epoch, and some tenths of a millisecond to make each.
"""

import hashlib
from collections.abc import Callable, Iterator

import numpy as np
import pyarrow as pa

from niwaki.core.errors import InputError
from niwaki.core.seeds import derive
from niwaki.core.settings import setting
from niwaki.data.image_bytes import EncodedImage, decode, encode_array
from niwaki.methods._method import Context, Method, Requirements, Reshapes, SelectsRows
from niwaki.models.model import Model

BATCH = 4096  # copies that are made before they are handed on


class ImageCopies(Method, Reshapes, SelectsRows):
    copies: int = setting(4, "copies of every training image", ge=1, le=100)
    shift: float = setting(0.125, "share of height and width by which a copy is moved at most", ge=0, le=0.5)
    mirror: bool = setting(True, "whether half of the copies are mirrored; false for digits and text")

    requires = Requirements(training=True)

    def dry_prepare(self, model: Model) -> Model:
        if model.anatomy.family.inputs.reads != "images":
            raise InputError("image_copies: the model reads texts; set train.augmentations for copies of texts")
        return model

    def prepare(self, model: Model, context: Context) -> Model:
        return self.dry_prepare(model)

    def rows(self, rows: pa.Table, answered: Callable[[pa.Table], pa.Table]) -> pa.Table:
        """The rows, then the first copy of each, the second, and so on."""
        return pa.concat_tables([rows, *(self._copied(rows, number) for number in range(self.copies))])

    def _copied(self, rows: pa.Table, number: int) -> pa.Table:
        parts = [self._batch(rows.slice(start, BATCH), number) for start in range(0, rows.num_rows, BATCH)]
        return pa.concat_tables(parts) if parts else rows

    def _batch(self, rows: pa.Table, number: int) -> pa.Table:
        images = [*self._images(rows, number)]
        digests = [hashlib.sha256(one).hexdigest() for one in images]
        for name, values in (("image", images), ("text", digests)):
            place = rows.column_names.index(name)
            rows = rows.set_column(place, rows.schema.field(place), pa.array(values, rows.schema.field(place).type))
        return rows

    def _images(self, rows: pa.Table, number: int) -> Iterator[bytes]:
        for data, digest in zip(rows.column("image").to_pylist(), rows.column("text").to_pylist(), strict=True):
            draw = np.random.default_rng(derive(number, digest))
            pixels = np.asarray(decode(EncodedImage(data, f"the image with digest {digest[:12]}"), 3))
            yield encode_array(moved(pixels, self.shift, self.mirror, draw)).data


def moved(pixels: np.ndarray, shift: float, mirror: bool, draw: np.random.Generator) -> np.ndarray:
    """An image (height, width, channels) moved by up to `shift` of its sides; pixels at the border are repeated."""
    limits = [int(side * shift) for side in pixels.shape[:2]]
    down, right = (int(draw.integers(2 * limit + 1)) for limit in limits)
    high, wide = pixels.shape[:2]
    padded = np.pad(pixels, [*((limit, limit) for limit in limits), (0, 0)], mode="edge")
    found = padded[down : down + high, right : right + wide]
    return np.ascontiguousarray(found[:, ::-1] if mirror and draw.random() < 0.5 else found)
