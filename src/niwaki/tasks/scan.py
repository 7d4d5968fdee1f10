"""SCAN (Lake and Baroni 2018): commands to sequences of actions, in four ways of cutting test from train."""

from pathlib import Path
from typing import ClassVar, Literal

import pyarrow as pa

from niwaki.core.errors import InputError
from niwaki.core.settings import setting
from niwaki.data import dataset_files
from niwaki.data.folders import READERS
from niwaki.tasks._declarations import Published
from niwaki.tasks._formula_task import FormulaTask
from niwaki.tasks._notation import Notation


class Scan(FormulaTask):
    which: Literal["simple", "length", "addprim_jump", "addprim_turn_left"] = setting("simple", "which of its splits")
    validation: float = setting(0.05, "share of the train rows for validation, since SCAN gives none", gt=0, lt=0.5)
    max_new_tokens: int = setting(64, "most tokens that are written; the longest have 48 actions", ge=1, le=100_000)

    published: ClassVar[Published] = Published("scan", columns={"text": "command", "target": "actions"})
    description: ClassVar[str] = "the actions that a command asks for"

    @property
    def formula_notation(self) -> Notation:
        """There is no grammar: every sequence of actions is valid."""
        return ""

    def read_parts(self) -> dict[str, pa.Table]:
        return {part: dataset_files.read_table(self._file(part)) for part in ("train", "test")}

    def _file(self, part: str) -> Path:
        folder = Path(self.data.source).expanduser()
        places = (folder / f"{self.which}-{part}{suffix}" for suffix in READERS)
        found = next((path for path in places if path.is_file()), None)
        if found is None:
            raise InputError(f"{folder}: has no {self.which}-{part}.parquet, which task '{self.name}' needs")
        return found
