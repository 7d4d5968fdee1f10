"""The summary of a comparison: short, printable, complete."""

from niwaki.report.changes_summary import summary

from .comparisons_of_models import facts


def test_summary_is_short_and_printable():
    lines = summary(facts())
    assert lines[0] == "A teacher, B <b>small</b>, 300 rows" and lines[1] == "churn       10.0 % (7.0–13.0 %)"
    assert any(line.startswith("PIE         6.7 %") for line in lines) and len(lines) < 12
    assert any(line.startswith("ECE         A 8.0 %, B 8.0 %") for line in lines)
    assert lines[-1].startswith("stage <b>small</b>")


def test_what_was_not_measured_has_no_line():
    found = facts() | {"pie": None, "calibration": None, "stages": None, "groups": []}
    assert len(summary(found)) == 6 and "There are no groups." in summary(found)[-1]
