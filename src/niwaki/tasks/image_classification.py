"""Your own images, each with one label of several: folders by label, parquet columns with bytes, or arrays in a .npz file."""

from collections.abc import Iterator, Sequence
from typing import ClassVar

import numpy as np
import pyarrow as pa
from tokenizers import Tokenizer

from niwaki.answers._answer_type import Input
from niwaki.core.errors import InputError
from niwaki.core.settings import setting
from niwaki.data import image_rows
from niwaki.data.image_bytes import EncodedImage
from niwaki.models.features import Features
from niwaki.models.forward import NO_LABEL
from niwaki.tasks._declarations import TableFormat
from niwaki.tasks._label_task import LabelTask

LABEL_COLUMNS = ("label", "labels", "class", "target", "fine_label")


class ImageClassification(LabelTask):
    image: str = setting("", "column that holds the images as bytes; none takes the only one")
    label: str = setting("", "column that holds the label; none guesses")

    table: ClassVar[TableFormat] = TableFormat("images", (), stratify_by="label")
    answer: ClassVar[str] = "image_label"
    description: ClassVar[str] = "single-label classification of images"

    def read_parts(self) -> dict[str, pa.Table]:
        return image_rows.read_splits(self.data.source)

    def normalized(self, part: str, table: pa.Table) -> pa.Table:
        """`text` is the digest of an image."""
        if table.schema == image_rows.SCHEMA:  # of a folder, or of arrays
            return table.set_column(2, "label", self.read_labels(part, table, "label"))
        image = image_rows.image_column(table, self.image, self.data.source)
        labels = self.read_labels(part, table, self._label_column(table))
        return image_rows.column_table(table, image, labels, self.data.source)

    def _label_column(self, table: pa.Table) -> str:
        found = self.label or next((name for name in LABEL_COLUMNS if name in table.column_names), "")
        if not found:
            raise InputError(
                f"{self.data.source}: has no column of labels among {', '.join(table.column_names[:8])}; name it (data.label)"
            )
        self.data.require_columns(table, [found])
        return found

    def inputs(self, rows: pa.Table) -> list[Input]:
        named = zip(rows.column("image").to_pylist(), rows.column("text").to_pylist(), strict=True)
        return [
            EncodedImage(data, f"{self.data.source}: the image with digest {digest[:12]}") for data, digest in named
        ]

    def gold(self, rows: pa.Table) -> list[Input]:
        return rows.column("label").to_pylist()

    def texts(self, rows: pa.Table) -> Iterator[str]:
        """None: images need no vocabulary."""
        yield from ()

    def unlabelled_features(self, texts: Sequence[Input], tokenizer: Tokenizer, max_tokens: int) -> Features:
        encoded = self.answer_type.encode(texts, tokenizer, max_tokens)
        return Features(encoded, np.full(len(texts), NO_LABEL, dtype=np.int64))
