"""Other names in the places of names, in question and formula alike."""

from niwaki.data.database import Database
from niwaki.tasks._geography import World
from niwaki.tasks._recombine import Name, names_in, recombined, swappable, swapped

from . import geography

TEXAS, YORK, UTAH = (Name("state", name, f"stateid('{name}')") for name in ("texas", "new york", "utah"))
NAMES = {
    "state": [UTAH, YORK],
    "river": [Name("river", "red", "riverid('red')")],
    "city": [Name("city", name, f"cityid('{name}', _)") for name in ("boston", "salt lake city")],
    "town": [Name("town", "erie pennsylvania", "cityid('erie', 'pa')")],
}


def test_by_hand():
    formula = "answer(len(longest(river(loc_2(stateid('texas'))))))"
    assert swapped("How long is the longest river in Texas ?", formula, TEXAS, YORK) == (
        "How long is the longest river in New York ?",
        "answer(len(longest(river(loc_2(stateid('new york'))))))",
    )
    assert swapped("fluss in texas", formula, TEXAS, UTAH)[0] == "fluss in utah"


def test_what_the_question_does_not_spell_out_stays():
    assert swappable("How long is it ?", "answer(len(riverid('red')))") == []
    assert swappable("Texans like Texas", "answer(stateid('texas'))") == [TEXAS]
    assert swappable("Texas or Texas", "answer(stateid('texas'))") == []  # which of them?
    both = swappable("Virginia , West Virginia", "answer(intersection(stateid('virginia'), stateid('west virginia')))")
    assert [one.spoken for one in both] == ["west virginia"]


def test_a_city_given_with_its_state_is_exchanged_with_it():
    for predicted in ("austin texas", "austin tx"):
        assert swappable(f"who lives in {predicted} ?", "answer(cityid('austin', 'tx'))") == [
            Name("town", predicted, "cityid('austin', 'tx')")
        ]
    rows = [("who lives in austin texas ?", "answer(cityid('austin', 'tx'))")]
    assert recombined(rows, NAMES, 5, (), 0) == [("who lives in erie pennsylvania ?", "answer(cityid('erie', 'pa'))")]
    assert swappable("who lives in austin ?", "answer(cityid('austin', 'tx'))") == []


def test_as_many_as_there_are_and_none_that_is_there():
    rows = [
        ("What is in Utah ?", "answer(loc_2(stateid('utah')))"),
        ("Where is Boston ?", "answer(loc_1(cityid('boston', _)))"),
    ]
    found = recombined(rows, NAMES, 100, {"Where is Salt Lake City ?"}, 0)
    assert found == [("What is in New York ?", "answer(loc_2(stateid('new york')))")]
    assert recombined([("What ?", "answer(all)")], NAMES, 5, (), 0) == []


def test_names_of_a_database(tmp_path):
    found = names_in(World(Database(geography.write(tmp_path / "x.sqlite"))))
    assert [one.written for one in found["state"]] == [
        "stateid('island')",
        "stateid('middle')",
        "stateid('new east')",
        "stateid('west')",
    ]
    assert [one.spoken for one in found["city"]] == ["big noon", "dawn", "noon", "port", "sunset"]  # each once
    assert found["town"] == []  # none of its states has letters
