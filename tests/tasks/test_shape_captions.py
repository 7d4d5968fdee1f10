"""Rows of images: a digest, the image and its caption."""

import hashlib

import numpy as np

from niwaki.data.image_bytes import EncodedImage
from niwaki.models.preprocessor import preprocessor_for
from niwaki.tasks.shape_captions import ShapeCaptions


def test_rows_are_images_and_the_vocabulary_that_of_captions():
    task = ShapeCaptions(pairs=100, evaluation_pairs=20)
    rows = task.splits()["validation"]
    assert rows.column_names == ["text", "image", "target"]
    (digest, data, caption) = (rows.column(name)[3].as_py() for name in rows.column_names)
    assert digest == hashlib.sha256(data).hexdigest()
    assert task.problem.verify(EncodedImage(data), caption)
    assert [*task.texts(rows)] == [] and task.inputs(rows)[3].data == data
    words = set(" ".join(task.gold(task.splits()["train"])).split())
    vocabulary = set(task.answer_type.target.get_vocab())
    assert words <= vocabulary and len(vocabulary - words) == 4, "special tokens, and nothing of images"
    assert {"top", "and", "triangle"} <= words


def test_pixels_and_tokens_of_captions_are_encoded():
    task = ShapeCaptions(pairs=100, evaluation_pairs=20)
    vision = preprocessor_for({"model_type": "vit", "image_size": 32, "patch_size": 8})
    found = task.features(task.splits()["test"], vision)
    assert found.rows.arrays["pixel_values"].values.shape == (20, 3, 32, 32) and (found.rows.lengths == 17).all()
    ends = [
        found.targets.values[start + length - 1]
        for start, length in zip(found.targets.starts, found.targets.lengths, strict=False)
    ]
    assert np.unique(ends).tolist() == [task.answer_type.end]
