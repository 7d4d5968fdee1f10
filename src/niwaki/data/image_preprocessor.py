"""What images go through before a network reads them: size, crop, mean and deviation of channels. Stored as transformers stores it."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from niwaki.core.files import write_json
from niwaki.core.json_types import Json
from niwaki.data.image_bytes import EncodedImage, decode
from niwaki.data.pixels import Pixels, PixelsBuilder, PixelScale

if TYPE_CHECKING:
    from PIL.Image import Image

PREPROCESSOR = "preprocessor_config.json"
BILINEAR = 2  # the number of Pillow's filter


@dataclass(frozen=True)
class ImagePreprocessor:
    """Images to bytes of the size that a network reads, and the scale from these to its numbers."""

    channels: int
    size: tuple[int, int]  # height and width that images are resized to
    crop: tuple[int, int] | None  # of the middle of what was resized
    tokens: int  # what the network makes of an image
    scale: PixelScale
    resample: int = BILINEAR
    kind: str = "ViTImageProcessor"

    @property
    def read_size(self) -> tuple[int, int]:
        return self.crop or self.size

    def __call__(self, images: Iterable[EncodedImage]) -> Pixels:
        builder = PixelsBuilder((self.channels, *self.read_size), self.tokens, self.scale)
        for image in images:
            builder.add(self.pixels(image))
        return builder.done()

    def pixels(self, image: EncodedImage) -> np.ndarray:
        """(channels, height, width) uint8"""
        found = self._cropped(self._resized(decode(image, self.channels)))
        values = np.asarray(found, dtype=np.uint8)
        return np.ascontiguousarray(values.reshape(*self.read_size, self.channels).transpose(2, 0, 1))

    def _resized(self, image: "Image") -> "Image":
        high, wide = self.size
        return image if image.size == (wide, high) else image.resize((wide, high), self.resample)

    def _cropped(self, image: "Image") -> "Image":
        if self.crop is None:
            return image
        (high, wide), (crop_high, crop_wide) = self.size, self.crop
        top, left = (high - crop_high) // 2, (wide - crop_wide) // 2
        return image.crop((left, top, left + crop_wide, top + crop_high))

    def save_pretrained(self, folder: Path) -> None:
        write_json(folder / PREPROCESSOR, self.to_json())

    def to_json(self) -> Json:
        crop = self.crop and dict(zip(("height", "width"), self.crop, strict=True))
        return {
            "image_processor_type": self.kind,
            "do_resize": True,
            "size": dict(zip(("height", "width"), self.size, strict=True)),
            "resample": self.resample,
            **({"do_center_crop": True, "crop_size": crop} if crop else {}),
            "do_rescale": True,
            "rescale_factor": self.scale.factor,
            "do_normalize": True,
            "image_mean": list(self.scale.mean),
            "image_std": list(self.scale.std),
        }
