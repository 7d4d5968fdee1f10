"""Captions of drawn shapes: generated pairs, verified answers. An encoder for images with a decoder for texts."""

from collections.abc import Iterator
from typing import ClassVar

import pyarrow as pa

from niwaki.answers._answer_type import Input
from niwaki.core.settings import setting
from niwaki.data.image_bytes import EncodedImage
from niwaki.data.problems._problem import Question, text_of
from niwaki.tasks._inverse_task import InverseTask


class ShapeCaptions(InverseTask):
    pairs: int = setting(20_000, "training images that are drawn", ge=100)
    max_new_tokens: int = setting(20, "maximum number of generated tokens", ge=1, le=300)
    beam: int = setting(4, "candidates that are followed side by side and verified", ge=1, le=64)

    answer: ClassVar[str] = "image_caption"
    question_columns: ClassVar[dict[str, pa.DataType]] = {"text": pa.string(), "image": pa.binary()}
    description: ClassVar[str] = "captions of drawn shapes"

    def question_cells(self, question: Question) -> tuple[str | bytes, ...]:
        assert isinstance(question, EncodedImage)
        return text_of(question), question.data

    def inputs(self, rows: pa.Table) -> list[Input]:
        named = zip(rows.column("image").to_pylist(), rows.column("text").to_pylist(), strict=True)
        return [EncodedImage(data, f"the image with digest {digest[:12]}") for data, digest in named]

    def texts(self, rows: pa.Table) -> Iterator[str]:
        """None: images need no vocabulary."""
        yield from ()
