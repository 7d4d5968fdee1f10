"""CSV and TSV: blocks, quotes and delimiters."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as some

from niwaki.core.errors import InputError
from niwaki.data import delimited
from niwaki.data.dataset_files import read_splits, read_table


def test_semicolon_is_the_delimiter_if_the_header_has_no_comma(tmp_path):
    (tmp_path / "x.csv").write_text('text;label\n"a; b, c";1\n')
    assert read_table(tmp_path / "x.csv").to_pylist() == [{"text": "a; b, c", "label": "1"}]


def test_unclosed_quote_is_rejected(tmp_path, monkeypatch):
    monkeypatch.setattr("niwaki.data.delimited.BLOCK", 4096)
    (tmp_path / "x.csv").write_text("text,label\n" + "a,b\n" * 3000 + '"c,d\n' + "e,f\n" * 3000)
    with pytest.raises(
        InputError, match=r"a quote that opens in or after row \d+ never closes.*; or a row is longer than"
    ):
        read_table(tmp_path / "x.csv")


@given(body=some.text('ab",;\n\r', max_size=40), block=some.integers(3, 20))
def test_rows_do_not_depend_on_the_block_size(tmp_path_factory, body, block):
    path = tmp_path_factory.mktemp("cut") / "x.csv"
    path.write_bytes(f"text,label\n{body}".encode())
    whole, cut = csv_result(path, 1 << 20), csv_result(path, block)
    assert cut == whole or "a row is longer than" in cut


def csv_result(path, block):
    """The rows, or the message of the rejection."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(delimited, "BLOCK", block)
        try:
            return [row for batch in delimited.batches(path, ",", None) for row in batch.to_pylist()]
        except InputError as error:
            return str(error)


def test_bad_row_after_the_first_block_is_reported_with_its_number(tmp_path, monkeypatch):
    monkeypatch.setattr(delimited, "BLOCK", 64)
    (tmp_path / "x.csv").write_text("text,label\n" + 'a,"b\n"\n\n' * 100 + "a,b,c\n" + "a,b\n" * 9)
    with pytest.raises(InputError, match="row 102 has 3 cells"):
        read_table(tmp_path / "x.csv")


@pytest.mark.parametrize("number", ["9" * 5001, "-" + "9" * 5001, "9" * 5001 + ".5", "1e" + "9" * 400])
@pytest.mark.parametrize("row", ['{"a": %s}', '{"a": [[null, [%s]]]}', '{"a": 1}\n{"a": "x", "b": %s}'])
def test_numbers_beyond_every_type_are_rejected(tmp_path, number, row):
    (tmp_path / "x.jsonl").write_text(row % number + "\n")
    (tmp_path / "x.json").write_text(f"[{(row % number).replace(chr(10), ',')}]")
    for name, unit in (("x.jsonl", "line"), ("x.json", "item")):
        with pytest.raises(InputError, match=rf"{unit} \d has a number of more than 308 digits"):
            read_splits(tmp_path / name)


def test_long_digit_sequences_stay_text(tmp_path):
    (tmp_path / "x.jsonl").write_text(json.dumps({"a": "9" * 5001}) + "\n")
    assert read_table(tmp_path / "x.jsonl").to_pylist() == [{"a": "9" * 5001}]


def test_quote_inside_a_cell_is_an_ordinary_character(tmp_path):
    (tmp_path / "x.csv").write_text('text,label\n5" pipe,1\n')
    assert read_table(tmp_path / "x.csv").column("text").to_pylist() == ['5" pipe']
