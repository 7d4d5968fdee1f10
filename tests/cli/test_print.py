"""What commands print: JSON or text, and tables."""

import json

from niwaki.cli._print import print_result, print_text, table


def test_columns_are_as_wide_as_their_longest_cell():
    rows = [{"name": "int8", "score": 0.81234567, "engine": None}, {"name": "a", "score": 1, "engine": "onnx"}]
    assert table(rows, ["name", "score", "engine"]).splitlines() == [
        "name  score   engine",
        "int8  0.8123  -",
        "a     1       onnx",
    ]


def test_a_table_without_rows_is_its_header():
    assert table([], ["name", "score"]) == "name  score"


def test_missing_cells_are_dashes():
    assert table([{"b": 2}], ["a", "b"]).splitlines() == ["a  b", "-  2"]


def test_results_are_printed_as_json_or_as_text(capsys):
    print_result({"é": [1]}, True, "text")
    printed = capsys.readouterr().out
    assert json.loads(printed) == {"é": [1]} and "é" in printed  # not escaped
    print_result({"é": [1]}, False, "text")
    assert capsys.readouterr().out == "text\n"


def test_half_a_surrogate_pair_is_escaped(capsys):
    print_text("a \ud800 b")
    assert capsys.readouterr().out == "a \\ud800 b"
