"""Multi30k (Elliott et al. 2016): descriptions of pictures, from English into German, French and Czech, or any way between."""

from typing import Any, ClassVar

import pyarrow as pa
from pydantic import field_validator

from niwaki.core.errors import InputError, did_you_mean
from niwaki.core.settings import setting
from niwaki.data import dataset_files
from niwaki.tasks.translation import Translation


class Multi30k(Translation):
    languages: str = setting("en-de", "from which column to which, e.g. en-fr")

    folder_name: ClassVar[str] = "multi30k"
    evaluation_splits: ClassVar[dict[str, str]] = {"validation": "validation", "test": "test_2016_flickr"}
    description: ClassVar[str] = "descriptions of pictures in another language"

    @field_validator("languages")
    @classmethod
    def _two(cls, said: str) -> str:
        one, dash, other = said.partition("-")
        if not (one and dash and other and one != other and "-" not in other):
            raise ValueError("must be two different columns with a dash between them, e.g. en-de")
        return said

    @property
    def pair(self) -> list[str]:
        return self.languages.split("-")

    def columns(self, table: pa.Table) -> dict[str, Any]:
        return dict(zip(self.column_roles, self.pair, strict=True))

    def parts(self) -> dict[str, pa.Table]:
        """The test is that of 2016; those of 2017 and 2018 are further ones, where they have both languages."""
        evaluation_splits = super().parts()
        for part, table in evaluation_splits.items():
            missing = [column for column in self.pair if column not in table.column_names]
            if missing:
                near = did_you_mean(missing[0], table.column_names)
                raise InputError(f"data.languages: the {part} rows have no '{missing[0]}'{near}")
        further = {
            name: table
            for name, table in dataset_files.read_splits(self.source()).items()
            if name not in ("train", *self.evaluation_splits.values())
        }
        return evaluation_splits | {
            name: table for name, table in further.items() if set(self.pair) <= set(table.column_names)
        }
