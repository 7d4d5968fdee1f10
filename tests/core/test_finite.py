"""NaN and infinity in a safetensors file, in every type that can hold them."""

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from niwaki.core.errors import InputError
from niwaki.core.finite import check_finite
from niwaki.core.tensor_file import read_header

TYPES = (torch.float16, torch.bfloat16, torch.float32, torch.float64)


def write(path, **tensors):
    save_file(tensors, path)
    return path, read_header(path)


@pytest.mark.parametrize("kind", TYPES, ids=str)
@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_one_such_number_anywhere_is_found(tmp_path, kind, value, monkeypatch):
    monkeypatch.setattr("niwaki.core.finite.BLOCK", 7)
    for place in (0, 6, 7, 19):
        bad = torch.linspace(-3, 3, 20, dtype=kind)
        bad[place] = value
        with pytest.raises(InputError, match="tensor 'bad' holds 1 numbers that are infinite or NaN"):
            check_finite(*write(tmp_path / "x.safetensors", first=torch.ones(3, dtype=kind), bad=bad))


@pytest.mark.parametrize("kind", TYPES, ids=str)
def test_the_largest_and_smallest_numbers_are_sound(tmp_path, kind):
    found = torch.finfo(kind)
    check_finite(
        *write(tmp_path / "x.safetensors", a=torch.tensor([found.max, found.min, found.tiny, 0.0, -0.0], dtype=kind))
    )


def test_whole_numbers_and_empty_tensors_are_passed_over(tmp_path):
    check_finite(*write(tmp_path / "x.safetensors", a=torch.full((4,), -1, dtype=torch.int64), b=torch.ones(0)))
    check_finite(*write(tmp_path / "y.safetensors", b=torch.ones(0)))


def test_bits_decide_as_numpy_does(tmp_path):
    numbers = np.random.default_rng(0).integers(0, 2**32, 5000, dtype=np.uint32).view(np.float32)
    sound = torch.from_numpy(numbers[np.isfinite(numbers)].copy())
    check_finite(*write(tmp_path / "x.safetensors", a=sound))
    with pytest.raises(InputError, match=f"holds {np.count_nonzero(~np.isfinite(numbers))} numbers"):
        check_finite(*write(tmp_path / "x.safetensors", a=torch.from_numpy(numbers.copy())))
