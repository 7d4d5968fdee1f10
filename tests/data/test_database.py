"""A database answers a model's queries, and none of them can write, hang or look elsewhere."""

import sqlite3

import pytest

from niwaki.core.errors import InputError
from niwaki.data.database import MAX_ROWS, Database


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "odd ?#% name.sqlite"
    with sqlite3.connect(path) as database_file:
        database_file.execute("CREATE TABLE city (name TEXT, people INT)")
        database_file.executemany("INSERT INTO city VALUES (?, ?)", [(f"c{n}", n) for n in range(300)])
    database_file.close()
    return path


def test_a_query_is_answered(path):
    database = Database(path)
    assert database.rows('SELECT max(people), count(DISTINCT name) FROM city WHERE name <> "c299" ;') == [(298, 299)]
    assert database.rows("SELECT name FROM city WHERE people IN (SELECT min(people) FROM city)") == [("c0",)]


HOSTILE = {
    "writes": "DELETE FROM city",
    "makes": "CREATE TABLE other (a)",
    "drops": "DROP TABLE city",
    "attaches": "ATTACH 'other.sqlite' AS other",
    "sets": "PRAGMA writable_schema = 1",
    "copies": "VACUUM INTO 'other.sqlite'",
    "never ends": "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT count(*) FROM t",
    "takes memory": "SELECT zeroblob(1000000000)",
    "loads code": "SELECT load_extension('x')",
    "two statements": "SELECT 1; DELETE FROM city",
    "begins": "BEGIN",
    "too many rows": "SELECT a.name FROM city a, city b",
    "too long": "SELECT " + "1 + " * 10_000 + "1",
    "longer than any": "SELECT 1 --" + "x" * 30_000,
    "too deep": "SELECT " + "1 + " * 150 + "1",
    "no SQL": "answer(city(all))",
    "a null character": "SELECT 1\0",
    "half a surrogate": "SELECT '\ud800'",
    "no such table": "SELECT * FROM nowhere",
}


@pytest.mark.parametrize("query", HOSTILE.values(), ids=list(HOSTILE))
def test_what_is_not_a_plain_question_gives_no_answer(path, query):
    before = path.read_bytes()
    database = Database(path)
    with pytest.raises(ValueError, match="the query gives"):
        database.rows(query)
    assert path.read_bytes() == before and len(list(path.parent.iterdir())) == 1
    assert database.rows("SELECT count(*) FROM city") == [(300,)]  # and the next one is answered


def test_the_file_is_open_for_reading_whatever_is_let_through(path):
    database = Database(path)
    database._open.set_authorizer(None)
    with pytest.raises(ValueError, match="readonly"):
        database.rows("DELETE FROM city")


def test_a_query_that_takes_long_is_stopped(path):
    with pytest.raises(ValueError, match="interrupted"):  # the query would take hours
        Database(path, seconds=0.1).rows("SELECT count(*) FROM city a, city b, city c, city d, city e")


def test_as_many_rows_as_may_be_are_given(path):
    assert len(Database(path).rows(f"SELECT a.name FROM city a, city b LIMIT {MAX_ROWS}")) == MAX_ROWS


@pytest.mark.parametrize(
    "content",
    [None, b"", b"no database", b"SQLite format 3\0" + b"\xff" * 200],
    ids=["missing", "empty", "text", "damaged"],
)
def test_a_file_that_is_not_a_database_is_rejected(tmp_path, content):
    path = tmp_path / "x.sqlite"
    if content is not None:
        path.write_bytes(content)
    if content == b"":  # an empty file is an empty database
        with pytest.raises(ValueError, match="no such table"):
            Database(path).rows("SELECT * FROM city")
        return
    with pytest.raises(InputError, match="cannot be read as a SQLite file"):
        Database(path)
    assert path.exists() == (content is not None)
