"""The geography of GeoQuery's database: things, what is where, what borders what, and their measures."""

from collections import defaultdict
from collections.abc import Iterable
from functools import cached_property
from typing import NamedTuple

from niwaki.core.errors import InputError
from niwaki.data.database import Database, Row

STATES = {
    "al": "alabama",
    "ak": "alaska",
    "az": "arizona",
    "ar": "arkansas",
    "ca": "california",
    "co": "colorado",
    "ct": "connecticut",
    "de": "delaware",
    "dc": "district of columbia",
    "fl": "florida",
    "ga": "georgia",
    "hi": "hawaii",
    "id": "idaho",
    "il": "illinois",
    "in": "indiana",
    "ia": "iowa",
    "ks": "kansas",
    "ky": "kentucky",
    "la": "louisiana",
    "me": "maine",
    "md": "maryland",
    "ma": "massachusetts",
    "mi": "michigan",
    "mn": "minnesota",
    "ms": "mississippi",
    "mo": "missouri",
    "mt": "montana",
    "ne": "nebraska",
    "nv": "nevada",
    "nh": "new hampshire",
    "nj": "new jersey",
    "nm": "new mexico",
    "ny": "new york",
    "nc": "north carolina",
    "nd": "north dakota",
    "oh": "ohio",
    "ok": "oklahoma",
    "or": "oregon",
    "pa": "pennsylvania",
    "ri": "rhode island",
    "sc": "south carolina",
    "sd": "south dakota",
    "tn": "tennessee",
    "tx": "texas",
    "ut": "utah",
    "vt": "vermont",
    "va": "virginia",
    "wa": "washington",
    "wv": "west virginia",
    "wi": "wisconsin",
    "wy": "wyoming",
}
MAJOR = {
    "city": ("people", 150_000),
    "river": ("length", 750),
    "lake": ("area", 750),
}  # people, km, km², as the set's SQL has it
TABLES = {
    "state": ("state_name", "population", "area", "density", "capital"),
    "city": ("city_name", "state_name", "population"),
    "river": ("river_name", "traverse", "length"),
    "lake": ("lake_name", "state_name", "area"),
    "mountain": ("mountain_name", "state_name", "mountain_altitude"),
    "highlow": ("state_name", "highest_point", "highest_elevation", "lowest_point", "lowest_elevation"),
    "border_info": ("state_name", "border"),
}


class Thing(NamedTuple):
    kind: str  # state, city, river, lake, mountain, place (a highest or lowest point), country
    name: str
    state: str = ""  # of things that it distinguishes


COUNTRY = Thing("country", "usa")


class World:
    def __init__(self, database: Database) -> None:
        self.measures: dict[str, dict[Thing, float]] = defaultdict(dict)
        self.states_of: dict[Thing, set[Thing]] = defaultdict(set)
        self.capitals: dict[Thing, Thing] = {}
        self.tops: dict[Thing, Thing] = {}
        self.bottoms: dict[Thing, Thing] = {}
        self.borders: dict[Thing, set[Thing]] = defaultdict(set)
        self.listed: set[Thing] = set()  # cities that have rows; capitals may have none
        try:
            for table, columns in TABLES.items():
                for row in database.rows(f"SELECT {', '.join(columns)} FROM {table}"):
                    getattr(self, f"_add_{table}")(*row)
        except (ValueError, TypeError, RecursionError) as error:
            raise InputError(f"{database.path}: is not the database of GeoQuery ({error})") from None

    def _add_state(self, name: str, people: float, area: float, density: float, capital: str) -> None:
        state = Thing("state", name)
        self.states_of[state] = set()
        for measure, value in (("people", people), ("area", area), ("density", density)):
            self.measures[measure][state] = value
        self.capitals[state] = self._within(Thing("city", capital, name), name)

    def _add_city(self, name: str, state: str, people: float) -> None:
        city = self._within(Thing("city", name, state), state)
        self.listed.add(city)
        self.measures["people"][city] = people

    def _add_river(self, name: str, state: str, length: float) -> None:
        self.measures["length"][self._within(Thing("river", name), state)] = length

    def _add_lake(self, name: str, state: str, area: float) -> None:
        self.measures["area"][self._within(Thing("lake", name), state)] = area

    def _add_mountain(self, name: str, state: str, height: float) -> None:
        self.measures["height"][self._within(Thing("mountain", name, state), state)] = height

    def _add_highlow(self, name: str, top: str, high: str, bottom: str, low: str) -> None:
        for points, point, height in ((self.tops, top, high), (self.bottoms, bottom, low)):
            points[Thing("state", name)] = self._within(Thing("place", point, name), name)
            self.measures["height"][points[Thing("state", name)]] = float(height)

    def _add_border_info(self, state: str, border: str) -> None:
        self.borders[Thing("state", state)].add(Thing("state", border))

    def _within(self, thing: Thing, state: str) -> Thing:
        self.states_of[thing].add(Thing("state", state))
        return thing

    @cached_property
    def things(self) -> frozenset[Thing]:
        return frozenset(self.states_of) | {COUNTRY}

    @cached_property
    def inside(self) -> dict[Thing, set[Thing]]:
        """State or country → what lies in it."""
        found: dict[Thing, set[Thing]] = defaultdict(set)
        for thing, states in self.states_of.items():
            for place in (*states, COUNTRY):
                found[place].add(thing)
        return found

    def called(self, kind: str, name: str, state: str = "_") -> Iterable[Thing]:
        """Things of a name. Mountains are places too, with or without `mount` before their names."""
        within = "" if state == "_" else STATES.get(state, state)
        kinds = ("place", "mountain") if kind == "place" else (kind,)
        names = {name, name.removeprefix("mount ")} if kind == "place" else {name}
        found = [
            thing
            for thing in self.things
            if thing.kind in kinds and thing.name in names and within in ("", thing.state)
        ]
        places = [thing for thing in found if thing.kind == "place"]
        return places or found  # a top is the mountain itself

    def is_a(self, thing: Thing, head: str) -> bool:
        if head == "capital":
            return thing in self.capitals.values()
        if head == "major":
            measure, least = MAJOR.get(thing.kind, ("", 0))
            return self.measures[measure].get(thing, 0) > least if measure else False
        if head == "city":
            return thing in self.listed
        return thing.kind == head

    def related(self, head: str, thing: Thing) -> Iterable[Thing]:
        """What a relation of FunQL leads to from a thing."""
        if head == "loc_1" or (head == "traverse_1" and thing.kind == "river"):
            return {COUNTRY} if thing.kind == "state" else self.states_of.get(thing, ())
        if head == "loc_2":
            return self.inside.get(thing, ())
        if head == "traverse_2":
            return {one for one in self.inside.get(thing, ()) if one.kind == "river"}
        if head in ("next_to_1", "next_to_2"):
            return self.borders.get(thing, ()) if thing.kind == "state" else self.states_of.get(thing, ())
        return self._of_points(head, thing)

    def _of_points(self, head: str, thing: Thing) -> Iterable[Thing]:
        points = {"capital": self.capitals, "high_point": self.tops, "low_point": self.bottoms}.get(head[:-2], {})
        if head.endswith("_1"):
            return {points[thing]} if thing in points else ()
        return {state for state, point in points.items() if point == thing}

    def measure(self, name: str, thing: Thing) -> float | None:
        """People, area, length …; `size` is what a thing of its kind is called large for."""
        if name == "size":
            name = {"city": "people", "river": "length", "mountain": "height", "place": "height"}.get(
                thing.kind, "area"
            )
        if thing == COUNTRY:
            return self._of_country(name)
        return self.measures[name].get(thing)

    def _of_country(self, name: str) -> float | None:
        if name == "density":
            return self._summed("people") / self._summed("area")
        return self._summed(name) if name in ("people", "area") else None

    def _summed(self, name: str) -> float:
        return sum(value for thing, value in self.measures[name].items() if thing.kind == "state")


def denoted(rows: Iterable[Row]) -> frozenset[object]:
    """What a query's rows say, whatever their order and number: names in small letters, numbers as numbers, with or without quotes."""
    return frozenset(plain(row[0]) if len(row) == 1 else tuple(map(plain, row)) for row in rows)


def plain(value: object) -> object:
    if not isinstance(value, str):
        return value if value is None or isinstance(value, bytes) else float(value)  # type: ignore[arg-type]
    try:
        return float(value)
    except ValueError:
        return value.strip().lower()
