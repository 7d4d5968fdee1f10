"""What a search gives: the sentence, the table, and what is missed."""

from pathlib import Path

import pytest

from niwaki.core.errors import InputError
from niwaki.search.result import COLUMNS, Searched
from search.contents import content


def test_the_selected_model_in_one_line():
    found = Searched(Path("out"), Path("runs/search-out"), content())
    assert repr(found) == (
        "Searched('out': trial 1, int8 in native: 5.0 MB, 1.50 ms, p99 3.00 ms, 98.0% of the source's score on test rows "
        "(96.0% to 100.0%))"
    )
    assert found.missed == [] and found.page == Path("runs/search-out/search.html")


def test_the_table_has_a_row_for_each_trial():
    columns, rows = Searched(Path("out"), Path("run"), content()).table()
    assert columns == COLUMNS and [row[:2] for row in rows] == [
        ["0", "done"],
        ["1", "selected"],
        ["2", "stopped"],
        ["3", "rejected"],
    ]
    assert rows[1][2:] == ["int8", "native", "97.5%", "5.0", "1.50", "3.00", "1.5"]
    assert rows[2][4] == "50.0%" and rows[3][4] == "-"


def test_a_search_without_a_finished_trial_says_so():
    found = Searched(Path("out"), Path("run"), {**content(), "selected": None})
    with pytest.raises(InputError, match="the search has no finished trial; give it more minutes"):
        _ = found.missed


def test_notebooks_show_a_table_of_escaped_text():
    trials = [{"number": 0, "status": "<b>", "point": {}, "losses": [1], "seconds": 1}]
    shown = Searched(Path("out"), Path("run"), {**content(), "trials": trials})._repr_html_()
    assert "&lt;b&gt;" in shown and "<b>" not in shown and shown.count("<tr>") == 2
