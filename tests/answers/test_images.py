"""What counts as an image."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from niwaki.answers._answer_type import InvalidText, check_inputs
from niwaki.answers.image_label import ImageLabel
from niwaki.core.errors import InputError, UsageError
from niwaki.data.image_bytes import decode, encode_array

PIXELS = np.random.default_rng(0).integers(0, 256, (4, 6, 3), dtype=np.uint8)


@pytest.mark.parametrize("kind", ["path", "text", "bytes", "array", "pillow", "read"])
def test_an_image_comes_as_path_bytes_array_or_object(kind, tmp_path):
    path, encoded = tmp_path / "a.png", encode_array(PIXELS)
    path.write_bytes(encoded.data)
    forms = {
        "path": path,
        "text": str(path),
        "bytes": encoded.data,
        "array": PIXELS,
        "pillow": Image.fromarray(PIXELS),
        "read": encoded,
    }
    (found,) = check_inputs(ImageLabel(), [forms[kind]])
    assert np.array_equal(np.asarray(decode(found, 3)), PIXELS)


def test_what_is_no_image_is_rejected_with_its_number():
    with pytest.raises(UsageError, match=r"texts.1: must be the path of an image, .* .given: int"):
        check_inputs(ImageLabel(), [PIXELS, 3])
    with pytest.raises(InputError, match=r"texts.0: .*nothing.png: is not there"):
        check_inputs(ImageLabel(), [Path("nothing.png")])
    with pytest.raises(InvalidText, match="an array must be uint8"):
        ImageLabel().check(PIXELS / 255)


def test_a_column_named_after_paths_is_read():
    assert ImageLabel().columns(["id", "File Name", "label"]) == [["File Name"]]
    assert ImageLabel().columns(["a", "b"]) == [["a"], ["b"]]
