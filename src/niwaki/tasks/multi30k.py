"""Multi30k (Elliott et al. 2016): descriptions of pictures, from English into German, French and Czech, or any way between."""

from typing import Any, ClassVar

import pyarrow as pa
from pydantic import field_validator

from niwaki.core.errors import Refused, did_you_mean
from niwaki.core.settings import setting
from niwaki.data import files
from niwaki.tasks.translation import Translation


class Multi30k(Translation):
    languages: str = setting("en-de", "from which column to which, e.g. en-fr")

    home: ClassVar[str] = "multi30k"
    exam: ClassVar[dict[str, str]] = {"validation": "validation", "test": "test_2016_flickr"}
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
        return dict(zip(self.roles, self.pair, strict=True))

    def parts(self) -> dict[str, pa.Table]:
        """The test is that of 2016; those of 2017 and 2018 are further ones, where they have both languages."""
        exam = super().parts()
        for part, table in exam.items():
            missing = [column for column in self.pair if column not in table.column_names]
            if missing:
                near = did_you_mean(missing[0], table.column_names)
                raise Refused(f"data.languages: the {part} rows have no '{missing[0]}'{near}")
        further = {name: table for name, table in files.read(self.source()).items() if name not in ("train", *self.exam.values())}  # fmt: skip
        return exam | {name: table for name, table in further.items() if set(self.pair) <= set(table.column_names)}
