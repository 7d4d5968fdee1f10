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
from niwaki.core.files import sha256
from niwaki.core.settings import setting
from niwaki.data import dataset_files
from niwaki.data.database import Database
from niwaki.data.folders import READERS
from niwaki.tasks._declarations import Published
from niwaki.tasks._formula_task import FormulaScorer, FormulaTask
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

    published: ClassVar[Published] = Published("geoquery", columns={"text": "text", "target": "target"})
    description: ClassVar[str] = "the formula that answers a question on the geography of the USA"

    @property
    def formula_notation(self) -> Notation:
        return "sql" if self.meaning == "sql" else "calls"

    def read_parts(self) -> dict[str, pa.Table]:
        """As the questions are split by custom: 550, 50 and 280; rows that lack the language or the meaning are left out. Questions are
        in small letters, as the set first had them: so a name is the same word in the question and in the formula."""
        table = dataset_files.read_table(self._file())
        self.data.require_columns(table, ["question_split", self.language, self.meaning])
        table = table.select(["question_split", self.language, self.meaning])
        table = table.filter(
            compute.and_(*(compute.is_valid(table.column(name)) for name in (self.language, self.meaning)))
        )
        table = table.rename_columns(["question_split", *self.table.roles])
        table = table.set_column(1, "text", compute.utf8_lower(table.column("text")))
        found = {
            ours: table.filter(compute.equal(table.column(0), theirs)).drop_columns(["question_split"])
            for theirs, ours in PARTS.items()
        }
        return {**found, "train": pa.concat_tables([found["train"], self._more(found)])} if self.recombined else found

    def _more(self, found: dict[str, pa.Table]) -> pa.Table:
        """Train rows with other names; no question of another part is among them."""
        if self.meaning != "funql" or not self.database_file.is_file():
            raise InputError(
                f"data.recombined: other names can be put into funql alone, and come from {DATABASE} next to the rows; set it to 0"
            )
        without = {
            text for part, table in found.items() if part != "train" for text in table.column("text").to_pylist()
        }
        rows = list(zip(*(found["train"].column(name).to_pylist() for name in self.table.roles), strict=True))
        more = recombined(rows, names_in(World(Database(self.database_file))), self.recombined, without, 0)
        return pa.table(
            {name: [row[place] for row in more] for place, name in enumerate(self.table.roles)},
            schema=found["train"].schema,
        )

    def _file(self) -> Path:
        folder = Path(self.data.source).expanduser()
        found = next((path for suffix in READERS if (path := folder / f"{ROWS}{suffix}").is_file()), None)
        if found is None:
            raise InputError(f"{folder}: has no {ROWS}.parquet, which task '{self.name}' needs")
        return found

    # ── execution ───────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def database_file(self) -> Path:
        return self._file().with_name(DATABASE)

    @cached_property
    def denotation(self) -> Callable[[str], Denotation] | None:
        """Executes a formula; None without a database, and for Prolog."""
        if self.meaning == "prolog" or not self.database_file.is_file():
            return None
        database = Database(self.database_file)
        if self.meaning == "sql":
            return lambda formula: denoted(database.rows(joined(formula, "sql")))
        world = World(database)
        return lambda formula: frozenset(denotation(formula, world))

    @cached_property
    def scorer(self) -> "GeoqueryScorer":
        return GeoqueryScorer(self)

    def extra_remarks(self) -> Iterator[str]:
        if self.meaning != "prolog" and not self.database_file.is_file():
            yield f"{self.database_file}: is not there, so formulas are compared and not executed"

    def extra_digest(self) -> object:
        return sha256(self.database_file) if self.database_file.is_file() else ""


class GeoqueryScorer(FormulaScorer):
    task: Geoquery

    def example_stats(self, values: Sequence[Value], rows: pa.Table) -> np.ndarray:
        """Whether the formulas are equal; and, with the database, whether they denote the same."""
        exact, execute = super().example_stats(values, rows), self.task.denotation
        if execute is None:
            return exact
        pairs = zip(values, self.task.gold(rows), exact[:, 0], strict=True)
        executed = [bool(same) or same_denotation(execute, generated, gold) for generated, gold, same in pairs]
        return np.column_stack([exact, executed])

    def scores(self, example_stats: np.ndarray) -> dict[str, float]:
        return {
            name: float(column.mean()) for name, column in zip(("exact", "executed"), example_stats.T, strict=False)
        }


def same_denotation(execute: Callable[[str], Denotation], generated: str, gold: str) -> bool:
    """Whether two formulas denote the same. If the gold formula denotes nothing, no other formula is correct."""
    try:
        wanted = execute(gold)
        return bool(wanted) and execute(generated) == wanted
    except ValueError:
        return False
