"""`niwaki report`: the report of a finished run."""

import json


def test_report_is_written_and_named(niwaki, finished):
    assert json.loads(niwaki("report", finished, "--json").out)["stages"]
    assert "report.html" in niwaki("report", finished).out
