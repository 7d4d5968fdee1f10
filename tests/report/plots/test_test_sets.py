"""The plot of scores by test set."""

import re

from niwaki.report.plots import test_sets


def draw(rows):
    return str(test_sets.draw(rows, "accuracy", lambda value: f"{100 * value:.0f} %"))


def test_each_set_has_a_dot_for_each_stage_and_a_line_between_them() -> None:
    drawing = draw({"test": {"teacher": 0.8, "int8": 0.7}, "<de>": {"teacher": 0.6, "int8": 0.6}})
    assert drawing.count('class="joint"') == 2 and drawing.count('class="mark"') == 4 + 2  # two in the key
    assert "&lt;de&gt;: teacher 60 %, int8 60 %" in drawing and "<de>" not in drawing
    teacher, int8 = (float(x) for x in re.findall(r'cx="([\d.]+)"', drawing)[:2])
    assert teacher > int8


def test_an_unknown_score_has_no_dot_and_the_other_keeps_its_looks() -> None:
    drawing = draw({"test": {"teacher": None, "int8": 0.7}, "de": {"teacher": 0.6, "int8": 0.5}})
    assert drawing.count('class="mark"') == 3 + 2
    assert drawing.count("point chosen") == 2 + 1


def test_one_stage_is_drawn_alone() -> None:
    assert draw({"test": {"teacher": 0.8}, "de": {"teacher": 0.6}}).count('class="mark"') == 2 + 1
