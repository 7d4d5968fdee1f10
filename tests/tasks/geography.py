"""A small country in the form of GeoQuery's database: three states in a row, and one apart."""

import sqlite3
from pathlib import Path

ROWS = {
    "state": (
        "state_name TEXT, population INT, area DOUBLE, country_name TEXT, capital TEXT, density DOUBLE",
        [
            ("west", 100, 50.0, "usa", "sunset", 2.0),
            ("middle", 300, 30.0, "usa", "noon", 10.0),
            ("new east", 60, 20.0, "usa", "dawn", 3.0),
            ("island", 10, 5.0, "usa", "port", 2.0),
        ],
    ),
    "city": (
        "city_name TEXT, population INT, country_name TEXT, state_name TEXT",
        [
            ("sunset", 200_000, "usa", "west"),
            ("noon", 100_000, "usa", "middle"),
            ("big noon", 900_000, "usa", "middle"),
            ("dawn", 160_000, "usa", "new east"),
            ("noon", 7_000, "usa", "new east"),
        ],
    ),
    "river": (
        "river_name TEXT, length INT, country_name TEXT, traverse TEXT",
        [
            ("long", 2000, "usa", "west"),
            ("long", 2000, "usa", "middle"),
            ("short", 300, "usa", "middle"),
            ("red", 800, "usa", "new east"),
        ],
    ),
    "lake": (
        "lake_name TEXT, area DOUBLE, country_name TEXT, state_name TEXT",
        [("deep", 800.0, "usa", "west"), ("deep", 800.0, "usa", "middle"), ("pond", 1.0, "usa", "island")],
    ),
    "mountain": (
        "mountain_name TEXT, mountain_altitude INT, country_name TEXT, state_name TEXT",
        [("high", 5000, "usa", "west"), ("mid", 4000, "usa", "west")],
    ),
    "highlow": (
        "state_name TEXT, highest_elevation TEXT, lowest_point TEXT, highest_point TEXT, lowest_elevation TEXT",
        [
            ("west", "5000", "sea", "mount high", "0"),
            ("middle", "979", "ditch", "hill", "-10"),
            ("new east", "1500", "sea", "peak", "0"),
            ("island", "20", "sea", "dune", "0"),
        ],
    ),
    "border_info": (
        "state_name TEXT, border TEXT",
        [("west", "middle"), ("middle", "west"), ("middle", "new east"), ("new east", "middle")],
    ),
}


def write(path: Path) -> Path:
    built = sqlite3.connect(path)
    for table, (columns, rows) in ROWS.items():
        built.execute(f"CREATE TABLE {table} ({columns})")
        built.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(rows[0]))})", rows)
    built.commit()
    built.close()
    return path
