"""The small country: places, relations and measures by hand. Formulas over it are in test_funql.py."""

import sqlite3

import pytest

from niwaki.core.errors import InputError
from niwaki.data.database import Database
from niwaki.tasks._geography import COUNTRY, Thing, World, denoted, plain

from . import geography

WEST, MIDDLE, EAST, ISLAND = (Thing("state", name) for name in ("west", "middle", "new east", "island"))


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    return World(Database(geography.write(tmp_path_factory.mktemp("geography") / "x.sqlite")))


def test_a_thing_in_several_states_is_one_thing(world):
    assert world.states_of[Thing("river", "long")] == {WEST, MIDDLE}
    assert world.states_of[Thing("lake", "deep")] == {WEST, MIDDLE}
    assert {city.state for city in world.called("city", "noon")} == {"middle", "new east"}


@pytest.mark.parametrize(
    ("head", "thing", "found"),
    [
        ("loc_1", Thing("city", "dawn", "new east"), {EAST}),
        ("loc_1", WEST, {COUNTRY}),
        ("traverse_1", Thing("river", "long"), {WEST, MIDDLE}),
        ("next_to_2", MIDDLE, {WEST, EAST}),
        ("next_to_1", ISLAND, set()),
        ("capital_1", MIDDLE, {Thing("city", "noon", "middle")}),
        ("capital_2", Thing("city", "noon", "middle"), {MIDDLE}),
        ("capital_2", Thing("city", "noon", "new east"), set()),
        ("high_point_1", EAST, {Thing("place", "peak", "new east")}),
        ("low_point_1", Thing("city", "dawn", "new east"), set()),
    ],
)
def test_relations_lead_from_thing_to_thing(world, head, thing, found):
    assert set(world.related(head, thing)) == found


def test_what_lies_in_a_state(world):
    assert {thing.name for thing in world.related("loc_2", ISLAND)} == {"port", "pond", "dune", "sea"}
    assert {thing.name for thing in world.related("traverse_2", MIDDLE)} == {"long", "short"}
    assert WEST in world.inside[COUNTRY]


@pytest.mark.parametrize(
    ("thing", "head", "holds"),
    [
        (Thing("city", "port", "island"), "capital", True),
        (Thing("city", "port", "island"), "city", False),  # it has no row of its own
        (Thing("city", "big noon", "middle"), "major", True),
        (Thing("city", "noon", "middle"), "major", False),  # 100,000 people
        (Thing("river", "short"), "major", False),
        (Thing("lake", "deep"), "major", True),
        (WEST, "major", False),
        (WEST, "state", True),
    ],
)
def test_kinds_of_things(world, thing, head, holds):
    assert world.is_a(thing, head) == holds


@pytest.mark.parametrize(
    ("name", "thing", "value"),
    [
        ("size", WEST, 50.0),
        ("size", Thing("city", "dawn", "new east"), 160_000),
        ("size", Thing("river", "red"), 800),
        ("size", Thing("mountain", "mid", "west"), 4000),
        ("height", Thing("place", "ditch", "middle"), -10.0),
        ("people", COUNTRY, 470),
        ("area", COUNTRY, 105.0),
        ("density", COUNTRY, 470 / 105),
        ("length", COUNTRY, None),
        ("people", Thing("river", "red"), None),
    ],
)
def test_measures_and_what_counts_as_size(world, name, thing, value):
    assert world.measure(name, thing) == value


def test_a_place_is_the_top_and_not_the_mountain_besides(world):
    assert list(world.called("place", "mount high")) == [Thing("place", "mount high", "west")]
    assert list(world.called("place", "mount mid")) == [Thing("mountain", "mid", "west")]  # no top
    assert list(world.called("city", "noon", "middle")) == [Thing("city", "noon", "middle")]
    assert list(world.called("city", "noon", "west")) == []


def test_answers_are_sets_of_plain_values():
    assert plain(" Texas ") == "texas" and plain("12.50") == 12.5 and plain(3) == 3.0 and plain(None) is None
    assert denoted([("A",), ("a ",), (1,), ("1.0",)]) == {"a", 1.0}
    assert denoted([("A", 2)]) == {("a", 2.0)}


def test_another_database_is_rejected(tmp_path):
    path = geography.write(tmp_path / "x.sqlite")
    with sqlite3.connect(path) as database:
        database.execute("UPDATE highlow SET highest_elevation = 'high'")
    database.close()
    with pytest.raises(InputError, match=r"x\.sqlite: is not the database of GeoQuery \(could not convert"):
        World(Database(path))
