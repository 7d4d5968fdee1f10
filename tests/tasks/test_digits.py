"""Handwritten digits."""

import numpy as np
import pytest

from niwaki.core.errors import InputError
from niwaki.data.image_bytes import EncodedImage, decode
from niwaki.tasks.digits import Digits


def test_digits_are_those_of_scikit_learn():
    """1,797 images; the first is a 0, and its first row has the levels 0 0 5 13 9 1 0 0 of 16."""
    rows = Digits().read_parts()["all"]
    assert rows.num_rows == 1797 and rows.column("label")[0].as_py() == "0"
    levels = np.asarray(decode(EncodedImage(rows.column("image")[0].as_py()), 1))[0] / 255 * 16
    assert levels.round().tolist() == [0, 0, 5, 13, 9, 1, 0, 0]


def test_a_path_is_rejected():
    with pytest.raises(InputError, match=r"^data.path: task 'digits' has rows of its own; take task 'image_classif"):
        Digits(path="images").splits()
