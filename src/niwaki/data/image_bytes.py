"""Single images, read safely through Pillow: formats by allow-list, limits before anything is unpacked, errors of one line."""

import io
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from niwaki.core.errors import InputError, first_line
from niwaki.core.extras import explain_missing

if TYPE_CHECKING:
    from PIL.Image import Image

FORMATS = ("PNG", "JPEG", "WEBP", "BMP")
SUFFIXES = (".png", ".jpg", ".jpeg", ".webp", ".bmp")
MAX_BYTES = 64 << 20  # of a file
MAX_PIXELS = 64_000_000  # of an image: 8000 × 8000


@dataclass(frozen=True)
class EncodedImage:
    """The content of an image file; `name` is for messages."""

    data: bytes
    name: str = "image"


def read_image(path: Path) -> EncodedImage:
    """A file as it is. Whether it holds an image is known when it is decoded."""
    if not path.is_file():
        raise InputError(f"{path}: is not there, or is no file; give the path of an image ({', '.join(SUFFIXES)})")
    size = path.stat().st_size
    if size > MAX_BYTES:
        raise InputError(
            f"{path}: has {size >> 20} MB, and images of up to {MAX_BYTES >> 20} MB are read; make it smaller"
        )
    try:
        return EncodedImage(path.read_bytes(), str(path))
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({first_line(error)})") from None


@explain_missing()
def decode(image: EncodedImage, channels: int) -> "Image":
    """As grey values (1 channel) or RGB (3), turned as its Exif data says."""
    from PIL import Image, ImageOps

    try:
        with Image.open(io.BytesIO(image.data), formats=FORMATS) as found:
            width, height = found.size
            if width * height > MAX_PIXELS:
                raise InputError(
                    f"{image.name}: has {width} × {height} pixels, and up to {MAX_PIXELS // 1_000_000} million are read; make it smaller"
                )
            found.load()
            return ImageOps.exif_transpose(found).convert("L" if channels == 1 else "RGB")
    except InputError:
        raise
    except Exception as error:  # noqa: BLE001 - damaged files break Pillow in many places
        what = "is empty" if not image.data else f"cannot be read as an image ({_reason(error)})"
        raise InputError(f"{image.name}: {what}; give a {', '.join(FORMATS[:-1])} or {FORMATS[-1]} file") from None


def _reason(error: Exception) -> str:
    """Pillow names the object that it read from, which means nothing to a user."""
    return "its format is not known" if type(error).__name__ == "UnidentifiedImageError" else first_line(error)


@explain_missing()
def encode_array(pixels: np.ndarray, name: str = "image") -> EncodedImage:
    """An array of bytes (height, width) or (height, width, channels) as a PNG, without loss."""
    from PIL import Image

    if pixels.dtype != np.uint8 or not (pixels.ndim == 2 or (pixels.ndim == 3 and pixels.shape[2] in (1, 3, 4))):
        raise InputError(
            f"{name}: an array must be uint8 of shape (height, width) or (height, width, 1, 3 or 4), not {pixels.dtype} {pixels.shape}"
        )
    if not pixels.size or pixels.size > 4 * MAX_PIXELS:
        raise InputError(f"{name}: an array of shape {pixels.shape} is no image of up to {MAX_PIXELS} pixels")
    file = io.BytesIO()
    Image.fromarray(pixels[..., 0] if pixels.ndim == 3 and pixels.shape[2] == 1 else pixels).save(file, "PNG")
    return EncodedImage(file.getvalue(), name)
