"""GeoQuery (Zelle and Mooney 1996): questions on the geography of the USA to formulas that a database answers."""

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np
import pyarrow as pa
from pyarrow import compute

from niwaki.answers._answer_type import Value
from niwaki.core.errors import InputError
from niwaki.core.files import fingerprint, sha256
from niwaki.core.settings import setting
from niwaki.data import dataset_files
from niwaki.data.database import Database
from niwaki.data.folders import READERS
from niwaki.tasks._formula_task import FormulaTask
from niwaki.tasks._funql import denotation
from niwaki.tasks._geography import World, denoted
from niwaki.tasks._notation import Notation, joined
from niwaki.tasks._recombine import names_in, recombined

ROWS, DATABASE = "geoquery", "geography.sqlite"
PARTS = {"train": "train", "dev": "validation", "test": "test"}  # of the split by questions
Denotation = frozenset[object]


class Geoquery(FormulaTask):
    language: Literal["en", "de", "el", "th", "zh", "es", "ja", "tr"] = setting(
        "en", "of the questions; es, ja and tr have 250"
    )
    meaning: Literal["funql", "sql", "prolog"] = setting("funql", "what is written")
    recombined: int = setting(
        0, "train rows to add, with other names of the database in the places of theirs; of funql", ge=0, le=100_000
    )

    folder_name: ClassVar[str] = "geoquery"
    description: ClassVar[str] = "the formula that answers a question on the geography of the USA"

    @property
    def formula_notation(self) -> Notation:
        return "sql" if self.meaning == "sql" else "calls"

    def parts(self) -> dict[str, pa.Table]:
        """As the questions are split by custom: 550, 50 and 280; rows that lack the language or the meaning are left out. Questions are
        in small letters, as the set first had them: so a name is the same word in the question and in the formula."""
        table = dataset_files.read_table(self._file())
        self.require_columns(table, ["question_split", self.language, self.meaning])
        table = table.select(["question_split", self.language, self.meaning])
        table = table.filter(
            compute.and_(*(compute.is_valid(table.column(name)) for name in (self.language, self.meaning)))
        )
        table = table.rename_columns(["question_split", *self.role_columns])
        table = table.set_column(1, "text", compute.utf8_lower(table.column("text")))
        found = {
            ours: table.filter(compute.equal(table.column(0), theirs)).drop_columns(["question_split"])
            for theirs, ours in PARTS.items()
        }
        return {**found, "train": pa.concat_tables([found["train"], self._more(found)])} if self.recombined else found

    def _more(self, found: dict[str, pa.Table]) -> pa.Table:
        """Train rows with other names; no question of another part is among them."""
        if self.meaning != "funql" or not self._beside.is_file():
            raise InputError(
                f"data.recombined: other names can be put into funql alone, and come from {DATABASE} beside the rows; set it to 0"
            )
        without = {
            text for part, table in found.items() if part != "train" for text in table.column("text").to_pylist()
        }
        rows = list(zip(*(found["train"].column(name).to_pylist() for name in self.role_columns), strict=True))
        more = recombined(rows, names_in(World(Database(self._beside))), self.recombined, without, 0)
        return pa.table(
            {name: [row[place] for row in more] for place, name in enumerate(self.role_columns)},
            schema=found["train"].schema,
        )

    def _file(self) -> Path:
        folder = Path(self.source()).expanduser()
        found = next((path for suffix in READERS if (path := folder / f"{ROWS}{suffix}").is_file()), None)
        if found is None:
            raise InputError(f"{folder}: has no {ROWS}.parquet, which task '{self.name}' needs")
        return found

    role_columns: ClassVar[dict[str, str]] = {"text": "text", "target": "target"}

    # ── execution ───────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def _beside(self) -> Path:
        return self._file().with_name(DATABASE)

    @cached_property
    def _answering(self) -> Callable[[str], Denotation] | None:
        """What a formula denotes; nothing where there is no database, or none that could be asked."""
        if self.meaning == "prolog" or not self._beside.is_file():
            return None
        database = Database(self._beside)
        if self.meaning == "sql":
            return lambda formula: denoted(database.rows(joined(formula, "sql")))
        world = World(database)
        return lambda formula: frozenset(denotation(formula, world))

    def example_stats(self, values: Sequence[Value], rows: pa.Table) -> np.ndarray:
        """Whether it is the right formula; and, with the database, whether it denotes the same."""
        exact, asked = super().example_stats(values, rows), self._answering
        if asked is None:
            return exact
        pairs = zip(values, self.gold(rows), exact[:, 0], strict=True)
        return np.column_stack([exact, [bool(same) or alike(asked, said, gold) for said, gold, same in pairs]])

    def scores(self, example_stats: np.ndarray) -> dict[str, float]:
        return {
            name: float(column.mean()) for name, column in zip(("exact", "executed"), example_stats.T, strict=False)
        }

    def remarks(self) -> list[str]:
        return [*super().remarks(), *self._told()]

    def _told(self) -> Iterator[str]:
        if self.meaning != "prolog" and not self._beside.is_file():
            yield f"{self._beside}: is not there, so formulas are compared and not executed"

    def fingerprint(self) -> str:
        return fingerprint([super().fingerprint(), sha256(self._beside) if self._beside.is_file() else ""])


def alike(asked: Callable[[str], Denotation], said: str, gold: str) -> bool:
    """Whether two formulas denote the same. Nothing is no answer: where the right one denotes nothing, only it is right."""
    try:
        wanted = asked(gold)
        return bool(wanted) and asked(said) == wanted
    except ValueError:
        return False
