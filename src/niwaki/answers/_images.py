"""Images as inputs of an answer type: paths, bytes, arrays or Pillow images; encoded by a model's preprocessor."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import ClassVar

import numpy as np
from tokenizers import Tokenizer

from niwaki.answers._answer_type import AnswerType, Columns, EncodedInputs, Input, InvalidText
from niwaki.core.errors import InputError
from niwaki.data.column_names import normalize
from niwaki.data.image_bytes import MAX_BYTES, EncodedImage, encode_array, read_image
from niwaki.data.image_preprocessor import ImagePreprocessor
from niwaki.data.pixels import PIXELS, Pixels

PATHS = ("image", "path", "file", "filename", "filepath", "img")  # names of columns with paths


class ImageInputs(AnswerType):
    """Comes before another answer type among the base classes."""

    architecture: ClassVar[str] = "ImageClassification"
    supports_early_exit: ClassVar[bool] = False
    input_description: ClassVar[str] = (
        "the path of an image, its bytes, an array (height, width, 3) of uint8 or a Pillow image"
    )

    def check(self, given: object) -> Input:
        try:
            return encoded_image(given)
        except InputError as error:
            raise InvalidText(str(error)) from None

    def from_line(self, line: str) -> Input:
        return line

    def columns(self, names: Sequence[str]) -> list[Columns]:
        known = [name for name in names if normalize(name) in PATHS]
        return [[name] for name in (known or names)]

    def encode(
        self, inputs: Iterable[Input], tokenizer: Tokenizer | ImagePreprocessor, max_tokens: int
    ) -> EncodedInputs:
        """Pixels; every image becomes as many tokens as the network makes of it."""
        assert isinstance(tokenizer, ImagePreprocessor)
        found: Pixels = tokenizer(encoded_image(given) for given in inputs)
        return EncodedInputs({PIXELS: found}, np.arange(len(found)), [])


def encoded_image(given: object) -> EncodedImage:
    """Raises TypeError for what is no image, and InputError for what cannot be read."""
    if isinstance(given, EncodedImage):
        return given
    if isinstance(given, str | Path):
        if not str(given).strip():
            raise ValueError
        return read_image(Path(given).expanduser())
    if isinstance(given, bytes):
        if len(given) > MAX_BYTES:
            raise InputError(f"image: has {len(given) >> 20} MB, and images of up to {MAX_BYTES >> 20} MB are read")
        return EncodedImage(given)
    if isinstance(given, np.ndarray):
        return encode_array(given)
    if hasattr(given, "getbands") and hasattr(given, "convert"):  # a Pillow image, which need not be imported to tell
        mode = "L" if given.getbands() == ("L",) else "RGB"
        return encode_array(np.asarray(given.convert(mode)))
    raise TypeError
