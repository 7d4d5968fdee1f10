"""Other names in the places of names, in question and formula alike."""

from niwaki.tasks._recombine import recombined, swappable, swapped

NAMES = {"state": ["utah", "new york"], "river": ["red"], "city": ["boston", "salt lake city"]}


def test_by_hand():
    formula = "answer(len(longest(river(loc_2(stateid('texas'))))))"
    assert swapped("How long is the longest river in Texas ?", formula, "stateid", "texas", "new york") == (
        "How long is the longest river in New York ?",
        "answer(len(longest(river(loc_2(stateid('new york'))))))",
    )
    assert swapped("fluss in texas", formula, "stateid", "texas", "utah")[0] == "fluss in utah"


def test_what_the_question_does_not_spell_out_stays():
    assert swappable("How long is it ?", "answer(len(riverid('red')))") is None
    assert swappable("Texans like Texas", "answer(stateid('texas'))")[2] == [("stateid", "texas")]
    assert swappable("Texas or Texas", "answer(stateid('texas'))") is None  # which of them?
    both = "answer(intersection(stateid('virginia'), stateid('west virginia')))"
    assert (
        swappable("Virginia and West Virginia", both) is None
        or ("stateid", "virginia") not in swappable("Virginia and West Virginia", both)[2]
    )
    assert (
        swappable("Salem , Oregon", "answer(cityid('salem', 'or'))") is None
    )  # a state is told by letters that are not in the question


def test_as_many_as_there_are_and_none_that_is_there():
    rows = [
        ("What is in Utah ?", "answer(loc_2(stateid('utah')))"),
        ("Where is Boston ?", "answer(loc_1(cityid('boston', _)))"),
    ]
    found = recombined(rows, NAMES, 100, {"Where is Salt Lake City ?"}, 0)
    assert found == [("What is in New York ?", "answer(loc_2(stateid('new york')))")]
    assert recombined([("What ?", "answer(all)")], NAMES, 5, (), 0) == []
