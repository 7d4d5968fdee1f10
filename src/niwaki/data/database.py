"""A SQLite file that a model's queries are put to: read only, one statement, of tables and plain functions, within limits.

What a model writes is as good as a stranger's. So the file is opened for reading, an authorizer lets nothing through but
selecting, reading and listed functions, recursion is denied, texts and numbers are bounded, and a clock stops what takes long.
"""

import sqlite3
import time
from pathlib import Path
from urllib.parse import quote

from niwaki.core.errors import InputError

FUNCTIONS = {
    "count",
    "sum",
    "total",
    "avg",
    "min",
    "max",
    "abs",
    "round",
    "lower",
    "upper",
    "length",
    "coalesce",
    "ifnull",
    "nullif",
    "cast",
}
ALLOWED = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ}
LIMITS = {
    sqlite3.SQLITE_LIMIT_LENGTH: 1_000_000,
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 20_000,
    sqlite3.SQLITE_LIMIT_COLUMN: 100,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 100,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 20,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
}
MAX_ROWS = 10_000
STEPS = 1_000  # of SQLite's machine between two looks at the clock

Row = tuple[object, ...]


class Database:
    """Opened on first use; InputError if the file is not a database."""

    def __init__(self, path: Path, seconds: float = 1.0) -> None:
        self.path, self.seconds = path, seconds
        self._ends = 0.0
        try:
            self._open = sqlite3.connect(f"file:{quote(str(path.resolve()))}?mode=ro&immutable=1", uri=True)
            self._open.execute("SELECT count(*) FROM sqlite_master")
        except sqlite3.Error as error:
            raise InputError(f"{path}: cannot be read as a SQLite file ({error})") from None
        for limit, most in LIMITS.items():
            self._open.setlimit(limit, most)
        self._open.set_progress_handler(lambda: time.monotonic() > self._ends, STEPS)
        self._open.set_authorizer(_authorized)

    def rows(self, query: str) -> list[Row]:
        """What a query gives; ValueError where it is unsound, forbidden, takes too long or gives too much."""
        self._ends = time.monotonic() + self.seconds
        try:
            found = self._open.execute(query).fetchmany(MAX_ROWS + 1)
        except (sqlite3.Error, sqlite3.Warning, UnicodeError, ValueError, OverflowError) as error:
            raise ValueError(f"the query gives no answer ({error})") from None
        if len(found) > MAX_ROWS:
            raise ValueError(f"the query gives more than {MAX_ROWS} rows")
        return found

    def close(self) -> None:
        self._open.close()


def _authorized(action: int, first: str | None, second: str | None, *_: str | None) -> int:
    if action in ALLOWED:
        return sqlite3.SQLITE_OK
    if action == sqlite3.SQLITE_FUNCTION and (second or "").lower() in FUNCTIONS:
        return sqlite3.SQLITE_OK
    return sqlite3.SQLITE_DENY
