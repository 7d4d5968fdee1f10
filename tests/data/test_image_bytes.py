"""Single images: what is read, and what is rejected in one line."""

import io
import struct
import zlib

import numpy as np
import pytest
from PIL import Image

from niwaki.core.errors import InputError
from niwaki.data import image_bytes
from niwaki.data.image_bytes import EncodedImage, decode, encode_array, read_image

PIXELS = np.random.default_rng(0).integers(0, 256, (37, 23, 3), dtype=np.uint8)


def saved(kind, pixels=PIXELS, **options):
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, kind, **options)
    return file.getvalue()


@pytest.mark.parametrize("kind", ["PNG", "BMP", "WEBP"])
def test_lossless_formats_give_the_same_pixels(kind):
    options = {"lossless": True} if kind == "WEBP" else {}
    assert np.array_equal(np.asarray(decode(EncodedImage(saved(kind, **options)), 3)), PIXELS)


def test_arrays_become_images_and_back():
    assert np.array_equal(np.asarray(decode(encode_array(PIXELS), 3)), PIXELS)
    grey = PIXELS[..., 0]
    for array in (grey, grey[..., None]):
        assert np.array_equal(np.asarray(decode(encode_array(array), 1)), grey)


def test_exif_turns_the_image():
    exif = Image.Exif()
    exif[0x0112] = 6  # turned a quarter clockwise when shown
    found = decode(EncodedImage(saved("PNG", exif=exif)), 3)
    assert np.array_equal(np.asarray(found), np.rot90(PIXELS, -1))


def bomb() -> bytes:
    """A PNG of a few hundred bytes that says it has 60,000 × 60,000 pixels."""
    parts = [
        (b"IHDR", struct.pack(">IIBBBBB", 60_000, 60_000, 8, 2, 0, 0, 0)),
        (b"IDAT", zlib.compress(b"0" * 9000)),
        (b"IEND", b""),
    ]
    chunks = (
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in parts
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "photo: is empty; give a PNG"),
        (b"GIF89a" + bytes(40), "photo: cannot be read as an image .its format is not known"),
        (saved("PNG")[:900], "photo: cannot be read as an image .*truncated"),
        (saved("JPEG")[:300], "photo: cannot be read as an image"),
        (saved("PNG")[:60] + b"x" * 400, "photo: cannot be read as an image"),
        (bomb(), "photo: .*60000 × 60000 pixels|photo: cannot be read as an image .*decompression bomb"),
    ],
    ids=["empty", "format", "cut png", "cut jpeg", "damaged", "bomb"],
)
def test_unreadable_images_are_rejected_in_one_line(data, message):
    with pytest.raises(InputError, match=message) as error:
        decode(EncodedImage(data, "photo"), 3)
    assert "\n" not in str(error.value)


def test_too_large_images_are_rejected_before_they_are_unpacked(monkeypatch, tmp_path):
    monkeypatch.setattr(image_bytes, "MAX_PIXELS", 37 * 23 - 1)
    monkeypatch.setattr(image_bytes, "MAX_BYTES", 100)
    with pytest.raises(InputError, match="23 × 37 pixels"):
        decode(EncodedImage(saved("PNG")), 3)
    (tmp_path / "a.png").write_bytes(saved("PNG"))
    with pytest.raises(InputError, match=r"a\.png: has 0 MB"):
        read_image(tmp_path / "a.png")
    with pytest.raises(InputError, match=r"b\.png: is not there"):
        read_image(tmp_path / "b.png")


@pytest.mark.parametrize(
    "array", [PIXELS.astype(float), PIXELS[None], PIXELS[..., :2], PIXELS[:0]], ids=["type", "axes", "channels", "none"]
)
def test_arrays_that_are_no_images_are_rejected(array):
    with pytest.raises(InputError, match="array"):
        encode_array(array)
