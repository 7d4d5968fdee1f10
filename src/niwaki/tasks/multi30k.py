"""Multi30k (Elliott et al. 2016): descriptions of pictures, from English into German, French and Czech, or any way between."""

from typing import ClassVar

import pyarrow as pa
from pydantic import field_validator

from niwaki.core.errors import InputError, did_you_mean
from niwaki.core.settings import setting
from niwaki.data import dataset_files
from niwaki.tasks._declarations import Published
from niwaki.tasks.translation import Translation


class Multi30k(Translation):
    languages: str = setting("en-de", "from which column to which, e.g. en-fr")

    published: ClassVar[Published] = Published(
        "multi30k",
        evaluation_splits={"validation": "validation", "test": "test_2016_flickr"},
        columns={"text": "text", "target": "target"},
    )
    description: ClassVar[str] = "descriptions of pictures in another language"

    @field_validator("languages")
    @classmethod
    def _two(cls, pair: str) -> str:
        source, dash, target = pair.partition("-")
        if not (source and dash and target and source != target and "-" not in target):
            raise ValueError("must be two different columns with a dash between them, e.g. en-de")
        return pair

    @property
    def pair(self) -> list[str]:
        return self.languages.split("-")

    def read_parts(self) -> dict[str, pa.Table]:
        """The test set is that of 2016. Those of 2017 and 2018 are further test sets if they have both languages."""
        parts = super().read_parts()
        for part, table in parts.items():
            missing = [column for column in self.pair if column not in table.column_names]
            if missing:
                near = did_you_mean(missing[0], table.column_names)
                raise InputError(f"data.languages: the {part} rows have no '{missing[0]}'{near}")
        known = ("train", *self.published.evaluation_splits.values())
        further = {
            name: table
            for name, table in dataset_files.read_splits(self.data.source).items()
            if name not in known and set(self.pair) <= set(table.column_names)
        }
        roles = self.table.roles
        return {name: table.select(self.pair).rename_columns(roles) for name, table in (parts | further).items()}
