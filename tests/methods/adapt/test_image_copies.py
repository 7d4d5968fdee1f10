import numpy as np
import pyarrow as pa
import pytest

import tiny
from niwaki.core.errors import InputError
from niwaki.data.image_bytes import EncodedImage, decode
from niwaki.data.image_rows import array_table
from niwaki.methods.adapt.image_copies import ImageCopies, moved


def images(count: int, high: int, wide: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (count, high, wide, 3)).astype(np.uint8)


def rows(pixels: np.ndarray) -> pa.Table:
    return array_table(pixels, np.arange(len(pixels)) % 3, "rows")


def pixels_of(table: pa.Table) -> np.ndarray:
    return np.stack([np.asarray(decode(EncodedImage(data), 3)) for data in table["image"].to_pylist()])


def test_moved_by_hand():
    """Two rows of three pixels; a third of three is one pixel, half of two is one."""
    image = np.arange(6, dtype=np.uint8).reshape(2, 3, 1)
    seen = {moved(image, 0.5, True, np.random.default_rng(seed)).tobytes() for seed in range(200)}
    padded = np.array([[0, 0, 1, 2, 2], [0, 0, 1, 2, 2], [3, 3, 4, 5, 5], [3, 3, 4, 5, 5]], dtype=np.uint8)
    views = [padded[down : down + 2, right : right + 3] for down in range(3) for right in range(3)]
    assert seen == {np.ascontiguousarray(view[:, ::step]).tobytes() for view in views for step in (1, -1)}


def test_copies_keep_labels_and_follow_from_the_image_alone():
    pixels = images(7, 9, 16)
    table, method = rows(pixels), ImageCopies(copies=3)
    found = method.rows(table, lambda given: given)
    assert found.schema == table.schema and found["label"].to_pylist() == table["label"].to_pylist() * 4
    assert (pixels_of(found.slice(0, 7)) == pixels).all(), "the images themselves come first"
    assert len(set(found["text"].to_pylist())) > 20, "almost all copies differ"
    backwards = method.rows(table.take([*reversed(range(7))]), lambda given: given)
    assert sorted(backwards["text"].to_pylist()) == sorted(found["text"].to_pylist())


def test_without_shift_and_mirror_copies_are_equal():
    table = rows(images(3, 5, 4))
    found = ImageCopies(copies=2, shift=0.0, mirror=False).rows(table, lambda given: given)
    assert found["text"].to_pylist() == table["text"].to_pylist() * 3


def test_half_are_mirrored():
    pixels = images(200, 2, 3)
    copies = pixels_of(ImageCopies(copies=1, shift=0.0).rows(rows(pixels), lambda given: given).slice(200))
    mirrored = (copies == pixels[:, :, ::-1]).all(axis=(1, 2, 3))
    assert ((copies == pixels).all(axis=(1, 2, 3)) ^ mirrored).all() and 70 <= mirrored.sum() <= 130


def test_no_rows_give_no_rows():
    table = rows(images(2, 3, 3))
    assert ImageCopies().rows(table.slice(0, 0), lambda given: given).num_rows == 0


def test_models_of_texts_are_rejected():
    with pytest.raises(InputError, match=r"reads texts; set train\.augmentations"):
        ImageCopies().dry_prepare(tiny.model("bert"))
