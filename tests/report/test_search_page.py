"""The page of a search has every trial and needs no network."""

import re

from niwaki import report
from niwaki.core.documents import read_document
from niwaki.report.plots.pareto import Point
from niwaki.report.search_page import LABELLED, nearest, point_text, search_page
from search.contents import content


def test_the_page_says_what_was_selected_and_lists_every_trial():
    page = search_page(content())
    assert "Within all limits: trial 1" in page and "98.0%" in page and "96.0% to 100.0%, paired" in page
    for number in range(3):
        assert f'data-stage="trial {number}"' in page
    assert 'data-stage="trial 3"' not in page and "<dt>1</dt><dd>at least 30 MB" in page
    assert "trials/001.toml" in page and "trials/002.toml" not in page  # only finished trials have a recipe
    assert "stages = student, student.student.layers = 2" in page
    assert "Instead of the source in its own engine, the search pays back after 1,000 inferences." in page
    assert (
        "3 trials and 1 rejected points, of 1,200 points" in page and page.count("<svg") == 6
    )  # three costs, wide and narrow


def test_the_best_format_within_the_limits_is_shown_for_a_trial():
    page = search_page({**content(), "selected": {**content()["selected"], "trial": 0}})
    row = page[page.index('data-stage="trial 1"') :]
    assert row.index("int8 in native") < row.index("</tr>")


def test_text_from_files_is_escaped_and_nothing_is_loaded():
    page = search_page(content())
    assert "at least 30 MB &lt;i&gt;" in page
    assert not re.search(r"<(?:script|img|link|iframe)[^>]+(?:src|href)|https?://(?!www\.w3\.org)", page)
    assert "default-src &#39;none&#39;" in page


def test_missed_limits_and_interruptions_are_named():
    found = content()
    found["selected"]["missed"], found["interrupted"] = ["keep: keeps 90.0% <b>"], True
    page = search_page(found)
    assert "Nearest to the limits: trial 1" in page and "keeps 90.0% &lt;b&gt;" in page and "Interrupted:" in page


def test_a_search_without_trials_has_a_page():
    page = search_page({**content(), "selected": None, "trials": [], "importance": {}})
    assert "Nothing selected" in page and "Too few trials to estimate it." in page


def test_plots_show_the_front_and_not_too_many_other_points():
    points = [Point(str(x), float(x + 1), 0.5 if x else 0.9, "stage", "") for x in range(100)]
    points.append(Point("chosen", 200.0, 0.1, "chosen", ""))
    shown = nearest(points)
    assert len(shown) == LABELLED and {"0", "chosen"} <= {point.name for point in shown}


def test_what_is_off_is_left_out():
    assert point_text({"stages.a.methods.ffn.keep": "off", "stages.a.train.lr": 0.1}) == "a.train.lr = 0.1"
    assert point_text({"stages.a.methods.ffn.keep": "off"}) == "all off"


def test_both_files_are_written(tmp_path):
    report.write_search(tmp_path, content())
    assert read_document(tmp_path / "search.json")["points"] == 1200
    assert (tmp_path / "search.html").read_text() == search_page(content())
