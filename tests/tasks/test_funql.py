"""What formulas denote in a small country, worked out by hand, and against SQL on the same file."""

import sqlite3

import pytest

from niwaki.core.errors import InputError
from niwaki.data.database import Database
from niwaki.tasks._funql import denotation
from niwaki.tasks._geography import World, denoted

from . import geography


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    return Database(geography.write(tmp_path_factory.mktemp("geography") / "geography.sqlite"))


@pytest.fixture(scope="module")
def world(database):
    return World(database)


BY_HAND = {
    "state(all)": {"west", "middle", "new east", "island"},
    "city(loc_2(stateid('middle')))": {"noon", "big noon"},
    "count(city(all))": {5.0},
    "count(city(cityid('noon', _)))": {2.0},
    "capital(loc_2(stateid('west')))": {"sunset"},
    "capital(city(loc_2(stateid('island'))))": {"port"},  # a capital without a row of its own
    "count(city(loc_2(stateid('island'))))": {0.0},
    "capital_1(stateid('new east'))": {"dawn"},
    "state(capital_2(cityid('dawn', _)))": {"new east"},
    "loc_1(cityid('big noon', _))": {"middle"},
    "population_1(cityid('dawn', _))": {160_000.0},
    "size(stateid('west'))": {50.0},
    "size(city(cityid('big noon', _)))": {900_000.0},
    "density_1(stateid('middle'))": {10.0},
    "population_1(countryid('usa'))": {470.0},
    "area_1(countryid('usa'))": {105.0},
    "largest(state(all))": {"west"},
    "smallest(state(all))": {"island"},
    "largest(city(loc_2(countryid('usa'))))": {"big noon"},
    "largest_one(population_1(state(all)))": {"middle"},
    "smallest_one(density_1(state(all)))": {"west", "island"},  # both 2
    "largest_one(density_1(state(next_to_2(stateid('middle')))))": {"new east"},
    "sum(population_1(state(next_to_2(stateid('middle')))))": {160.0},
    "sum(density_1(state(all)))": {17.0},  # 2 counts twice
    "state(next_to_1(stateid('west')))": {"middle"},
    "state(next_to_2(state(all)))": {"west", "middle", "new east"},
    "exclude(state(all), next_to_2(state(all)))": {"island"},
    "intersection(state(next_to_2(stateid('middle'))), loc_1(major(river(all))))": {"west", "new east"},
    "river(traverse_2(stateid('middle')))": {"long", "short"},
    "count(river(loc_2(stateid('middle'))))": {2.0},
    "state(traverse_1(riverid('long')))": {"west", "middle"},
    "len(longest(river(all)))": {2000.0},
    "shortest(river(loc_2(countryid('usa'))))": {"short"},
    "longer(riverid('short'))": {"long", "red"},
    "major(city(all))": {"sunset", "big noon", "dawn"},
    "major(lake(loc_2(stateid('west'))))": {"deep"},
    "lake(all)": {"deep", "pond"},
    "highest(place(loc_2(countryid('usa'))))": {"mount high"},  # as numbers: as texts 979 is the greatest
    "elevation_1(highest(place(loc_2(stateid('middle')))))": {979.0},
    "elevation_1(placeid('mount high'))": {5000.0},
    "placeid('mount high')": {"mount high"},  # and not the mountain besides, which it is
    "loc_1(placeid('mount mid'))": {"west"},  # a mountain that is no top
    "lowest(place(all))": {"ditch"},
    "state(loc_1(lowest(place(all))))": {"middle"},
    "highest(mountain(all))": {"high"},
    "high_point_1(state(next_to_2(stateid('middle'))))": {"mount high", "peak"},
    "state(high_point_2(higher_2(high_point_1(stateid('new east')))))": {"west"},
    "state(low_point_2(lower_2(low_point_1(stateid('west')))))": {"middle"},
    "count(state(loc_1(place(elevation_2(0)))))": {3.0},
    "most(state(next_to_2(state(all))))": {"middle"},
    "fewest(state(loc_1(city(all))))": {"west"},
    "most(state(loc_1(major(city(all)))))": {"west", "middle", "new east"},
    "most(river(traverse_2(state(all))))": {"long"},
    "population_1(most(state(loc_1(river(all)))))": {300.0},
    "smallest(population_1(state(all)))": {10.0},
    "city(cityid('noon', 'middle'))": {"noon"},
    "river(riverid('nowhere'))": set(),
    "longest(river(loc_2(stateid('island'))))": set(),
}


@pytest.mark.parametrize("formula", BY_HAND)
def test_by_hand(world, formula):
    assert denotation(f"answer({formula})", world) == BY_HAND[formula]


BY_SQL = {
    "city(loc_2(stateid('middle')))": 'SELECT C.CITY_NAME FROM CITY AS C WHERE C.STATE_NAME = "middle" ;',
    "population_1(largest(state(all)))": "SELECT POPULATION FROM STATE WHERE AREA = ( SELECT MAX( AREA ) FROM STATE ) ;",
    "count(state(next_to_2(stateid('middle'))))": 'SELECT COUNT( BORDER ) FROM BORDER_INFO WHERE STATE_NAME = "middle" ;',
    "river(loc_2(state(next_to_2(stateid('west')))))": 'SELECT RIVER_NAME FROM RIVER WHERE TRAVERSE IN ( SELECT BORDER FROM BORDER_INFO WHERE STATE_NAME = "west" ) ;',
    "density_1(countryid('usa'))": "SELECT SUM( POPULATION ) / SUM( AREA ) FROM STATE ;",
    "elevation_1(placeid('hill'))": 'SELECT HIGHEST_ELEVATION FROM HIGHLOW WHERE HIGHEST_POINT = "hill" ;',  # a text in the file
}


@pytest.mark.parametrize("formula", BY_SQL)
def test_sql_denotes_the_same(world, database, formula):
    assert denotation(f"answer({formula})", world) == denoted(database.rows(BY_SQL[formula]))


@pytest.mark.parametrize(
    "formula",
    [
        "state(all)",
        "answer(all",
        "answer(nothing(all))",
        "answer(state)",
        "answer(sum(state(all)))",
        "answer(state(population_1(state(all))))",
        "answer(count(all, all))",
        "answer(stateid(state(all)))",
        "answer(cityid('noon'))",
        "answer(most(population_1(state(all))))",
        "answer(elevation_2(high))",
        "answer(intersection(state(all)))",
        "answer('west')",
        "",
        "answer(" * 400,
    ],
)
def test_what_means_nothing_denotes_nothing(world, formula):
    with pytest.raises(ValueError):
        denotation(formula, world)


def test_another_database_is_rejected(tmp_path):
    built = sqlite3.connect(tmp_path / "x.sqlite")
    built.execute("CREATE TABLE city (a)")
    built.commit()
    with pytest.raises(InputError, match="is not the database of GeoQuery"):
        World(Database(tmp_path / "x.sqlite"))
