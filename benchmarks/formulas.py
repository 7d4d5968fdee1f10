"""Compares FunQL with the gold SQL of GeoQuery, and measures the coverage of grammars: `python benchmarks/formulas.py DATA`

DATA is a folder of tasks with `geoquery`, `cogs` and `atis`. Appends one record to results/formulas.jsonl. Takes seconds.
"""

import re
import shutil
import sqlite3
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import records

from niwaki.answers._grammar import read
from niwaki.data.database import Database
from niwaki.data.dataset_files import read_table
from niwaki.tasks._formula_task import FormulaTask
from niwaki.tasks._funql import denotation
from niwaki.tasks._geography import World, denoted
from niwaki.tasks.atis import Atis
from niwaki.tasks.cogs import Cogs
from niwaki.tasks.geoquery import DATABASE, Geoquery

AS_NUMBERS = (
    "CREATE TABLE made AS SELECT state_name, lowest_point, highest_point, CAST(highest_elevation AS INT) highest_elevation, "
    "CAST(lowest_elevation AS INT) lowest_elevation FROM highlow; DROP TABLE highlow; ALTER TABLE made RENAME TO highlow"
)  # the database stores elevations as text, where 979 is more than 6194
SAME, HEIGHTS, SEGMENTS, OTHER, WITHOUT = (
    "the same",
    "the same where heights are numbers",
    "the same where COUNT counts what is different",
    "another",
    "SQL that does not run",
)


def main(data: Path) -> None:
    tasks = [
        Geoquery(path=str(data)),
        Geoquery(path=str(data), recombined=5000),
        Geoquery(path=str(data), meaning="prolog"),
        Atis(path=str(data)),
        Cogs(path=str(data)),
    ]
    agreement = agreed(data / "geoquery")
    covered = [
        {
            "task": task.name,
            "meaning": getattr(task, "meaning", ""),
            "recombined": getattr(task, "recombined", 0),
            **coverage(task),
        }
        for task in tasks
    ]
    records.append("formulas", {"agreement": agreement, "grammars": covered, **records.circumstances()})
    for line in (agreement, *covered):
        sys.stdout.write(f"{line}\n")


def agreed(folder: Path) -> dict[str, int]:
    """Counts rows whose two formulas have the same denotation, and prints the others."""
    rows = [row for row in read_table(folder / "geoquery.parquet").to_pylist() if row["sql"]]
    plain = Database(folder / DATABASE)
    world = World(plain)
    with tempfile.TemporaryDirectory() as place:
        numbers = Database(with_numbers(folder / DATABASE, Path(place) / DATABASE))
        found = [(row, judged(row, world, plain, numbers)) for row in rows]
        numbers.close()
    for row in (row for row, result in found if result == OTHER):
        sys.stderr.write(f"{row['en']}  {row['funql']}\n")
    return dict(Counter(result for _, result in found))


def with_numbers(source: Path, target: Path) -> Path:
    shutil.copyfile(source, target)
    connection = sqlite3.connect(target)
    connection.executescript(AS_NUMBERS)
    connection.close()
    return target


def judged(row: dict[str, Any], world: World, plain: Database, numbers: Database) -> str:
    try:
        wanted = rounded(denotation(row["funql"], world))
        different = re.sub(r"COUNT\( (?!DISTINCT)", "COUNT( DISTINCT ", row["sql"])
        for result, database, query in (
            (SAME, plain, row["sql"]),
            (HEIGHTS, numbers, row["sql"]),
            (SEGMENTS, numbers, different),
        ):
            if rounded(denoted(database.rows(query))) == wanted:
                return result
    except ValueError:
        return WITHOUT
    return OTHER


def rounded(values: frozenset[Any]) -> set[Any]:
    """Ignores nulls and the last digits of sums."""
    return {round(value, 6) if isinstance(value, float) else value for value in values if value is not None}


def coverage(task: FormulaTask) -> dict[str, Any]:
    """Per split: formulas with a symbol that does not occur in training, and formulas that the grammar forbids."""
    grammar, target = read(task.files()["grammar.json"], task.answer_type.target), task.answer_type.target
    parts = {}
    for part, rows in task.splits().items():
        found = target.encode_batch([task.separate_symbols(gold) for gold in task.gold(rows)])
        unknown = [3 in one.ids for one in found]
        forbidden = sum(not grammar.accepts(one.ids) for one, lacks in zip(found, unknown, strict=True) if not lacks)
        parts[part] = {"rows": rows.num_rows, "unknown": sum(unknown), "forbidden": forbidden}
    return {"bytes": len(task.files()["grammar.json"]), "parts": parts}


if __name__ == "__main__":
    main(Path(sys.argv[1]))
