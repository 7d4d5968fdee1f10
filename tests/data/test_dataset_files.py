"""A user's rows: read unchanged, or rejected in one line."""

import gzip
import json

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as some
from pyarrow import parquet

from niwaki.core.errors import InputError
from niwaki.data import dataset_files, delimited, spill, utf8
from niwaki.data.dataset_files import read_splits, read_table

ROWS = {"text": ["a, b", 'say "x"', "two\nlines", "007"], "label": ["1", "0", "1", "0"]}


def write(folder, name):
    path = folder / name
    if path.suffix == ".parquet":
        parquet.write_table(pa.table(ROWS), path)
    elif path.suffix == ".jsonl":
        path.write_text("".join(f"{json.dumps(row)}\n" for row in pa.table(ROWS).to_pylist()))
    elif path.suffix == ".json":
        path.write_text(json.dumps(pa.table(ROWS).to_pylist(), indent=1))
    else:
        mark = "\t" if path.suffix == ".tsv" else ","
        cells = ['"' + text.replace('"', '""') + '"' for text in ROWS["text"]]
        lines = [mark.join(row) for row in zip(cells, ROWS["label"], strict=True)]
        path.write_text("\n".join([f"text{mark}label", *lines]) + "\n")
    return path


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "json", "parquet"])
def test_each_kind_gives_the_rows_as_written(tmp_path, kind):
    assert read_splits(write(tmp_path, f"x.{kind}"))["all"].to_pydict() == ROWS


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "json"])
def test_packed_files_are_read_alike(tmp_path, kind):
    plain = write(tmp_path, f"x.{kind}")
    (tmp_path / f"X.{kind.upper()}.gz").write_bytes(gzip.compress(plain.read_bytes()))
    assert read_splits(str(tmp_path / f"X.{kind.upper()}.gz"))["all"].to_pydict() == ROWS


@pytest.mark.parametrize("kind", ["csv", "jsonl", "json", "parquet"])
def test_what_goes_over_the_limit_lies_in_a_mapped_file_and_is_the_same(tmp_path, kind, monkeypatch):
    rows = [{"text": f"text {number}\n", "label": str(number % 7)} for number in range(5000)]
    many = {name: [row[name] for row in rows] for name in ("text", "label")}
    monkeypatch.setitem(ROWS, "text", many["text"])
    monkeypatch.setitem(ROWS, "label", many["label"])
    path = write(tmp_path, f"x.{kind}")
    held = read_table(path)
    monkeypatch.setattr(utf8.blocks, "__defaults__", (4096,))
    monkeypatch.setattr(spill, "LIMIT_BYTES", 10_000)
    monkeypatch.setattr(spill.tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    before = pa.total_allocated_bytes()
    mapped = read_table(path)
    assert pa.total_allocated_bytes() - before < 10_000 < mapped.nbytes
    assert mapped.equals(held) and mapped.to_pylist() == rows
    assert not list((tmp_path / "temporary").iterdir())


def test_only_requested_columns_are_read(tmp_path):
    for kind in ("csv", "jsonl", "parquet"):
        path = write(tmp_path, f"x.{kind}")
        assert read_splits(path, columns=["label"])["all"].to_pydict() == {"label": ROWS["label"]}
        with pytest.raises(InputError, match=r"has no column 'lable', did you mean 'label'\?"):
            read_splits(path, columns=["lable"])


def test_lists_and_structs_arrive_as_such(tmp_path):
    rows = [
        {"tokens": ["a", "b"], "answers": {"text": ["x"], "answer_start": [3]}},
        {"tokens": [], "answers": {"text": [], "answer_start": []}},
    ]
    (tmp_path / "x.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    table = read_table(tmp_path / "x.jsonl")
    parquet.write_table(table, tmp_path / "x.parquet")
    for read_again in (table, read_table(tmp_path / "x.parquet")):
        assert read_again.to_pylist() == rows
        assert read_again.schema.field("tokens").type == pa.list_(read_again.schema.field("tokens").type.value_field)
        assert pa.types.is_string(read_again.schema.field("tokens").type.value_type)


def test_types_of_other_programs_are_converted(tmp_path):
    words = pa.array(["a", "b", "a"])
    table = pa.table(
        {
            "d": words.dictionary_encode(),
            "l": words.cast(pa.large_string()),
            "v": pa.array([["a"], [], ["b"]], pa.large_list(pa.large_string())),
        }
    )
    parquet.write_table(table, tmp_path / "x.parquet")
    read_again = read_table(tmp_path / "x.parquet")
    assert read_again.to_pylist() == table.to_pylist()
    assert read_again.schema.types[:2] == [pa.string()] * 2 and read_again.schema.types[2].value_type == pa.string()


def test_a_column_of_numbers_that_turns_to_words_late(tmp_path):
    (tmp_path / "x.csv").write_text("text,label\n" + "1,0\n" * 400_000 + "word,1\n")
    table = read_table(tmp_path / "x.csv")
    assert table.column("text")[-1].as_py() == "word" and table.column("text")[0].as_py() == "1"


def test_a_folder_gives_its_parts(tmp_path):
    write(tmp_path, "train.csv")
    write(tmp_path, "test.parquet")
    (tmp_path / "test.md").write_text("notes")
    assert set(read_splits(tmp_path)) == {"train", "test"}


@pytest.mark.parametrize(
    "name, content, message",
    [
        ("x.csv", None, "is not there"),
        ("x.doc", b"x", "give .csv, .tsv, .jsonl, .parquet"),
        *(
            (f"x{suffix}", b"x", "is a spreadsheet, which is not read; export the sheet as CSV")
            for suffix in (".xlsx", ".XLS", ".ods")
        ),
        ("x.csv", b"", "is empty"),
        ("x.csv", b"\n \n", "is empty"),
        ("x.csv", b"text,label\n", "has no rows"),
        ("x.csv", b"text,label", "has no rows"),
        ("x.csv", b"text,label\na\n", "(row 2 has 1 cells and the header 2: 'a'); put cells"),
        ("x.csv", b'text,label\n"a\nb",c\nx,y,z\n', "(row 3 has 3 cells and the header 2: 'x,y,z')"),
        ("x.csv", b'text,label\na,b\nc,"d\ne,f\n', "a quote that opens in or after row 3 never closes"),
        ("x.csv", b'text,label\na,b\n"c,d\ne,f\n', "a quote that opens in or after row 3 never closes"),
        ("x.csv", b"text,label,text\na,b,c\n", "column 'text' is there 2 times"),
        (
            "x.csv",
            b"text,label\ncaf\xe9,1\n",
            "in UTF-8 (byte 14 is 0xe9); convert it from what it is in, e.g. `iconv -f",
        ),
        ("x.csv", b"\x7fELF\x02\x00\x00\xff", "it may be no text at all"),
        ("x.csv", b"PK\x03\x04\x14\x00\x06\x00", "it is a zip archive or a spreadsheet"),
        ("x.csv", gzip.compress(b"text,label\na,b\n", mtime=0), "end its name in .gz"),
        (
            "x.csv.gz",
            gzip.compress(b"text,label\na,b\n" * 99, mtime=0)[:-12],
            "cannot be read as csv (Compressed file ended",
        ),
        ("x.csv.gz", b"text,label\na,b\n", "cannot be read as csv (Not a gzipped file"),
        ("x.jsonl", b"", "is empty"),
        ("x.jsonl", b'{"a": 1}\n\n{not json\n', "cannot be read as json (line 3, column 2: Expecting property name"),
        ("x.jsonl", b'{"a": 1}\n[1]\n', "(line 2 is not an object: [1])"),
        ("x.jsonl", b'{"a": 1}\n{"a": "b"}\n', "(Column(/a) changed from number to string, lines 1 to 2); write all"),
        ("x.jsonl", b'{"a": "\xff"}\n', "byte 7 is 0xff"),
        ("x.jsonl", b"{}\n{}\n", "has no rows"),
        ("x.json", b"[]", "has no rows"),
        ("x.json", b'[{"a": 1}, {"a": ', "item 2 is not a whole JSON object"),
        ("x.json", b'[{"a": 1}, 2]', "item 2 is not an object"),
        ("x.parquet", b"PAR1nonsense", "cannot be read as parquet"),
    ],
)
def test_an_unreadable_file_is_rejected_in_one_line(tmp_path, name, content, message):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError) as caught:
        read_splits(tmp_path / name)
    assert message in str(caught.value) and "\n" not in str(caught.value)


def test_columns_that_do_not_go_together_between_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr(utf8.blocks, "__defaults__", (4096,))
    (tmp_path / "x.jsonl").write_text('{"a": 1}\n' * 2000 + '{"a": "b"}\n' * 2000)
    with pytest.raises(InputError, match=r"x.jsonl: cannot be read as json.*a"):
        read_splits(tmp_path / "x.jsonl")


def test_what_one_block_knows_of_a_column_is_not_held_against_the_next(tmp_path, monkeypatch):
    monkeypatch.setattr(utf8.blocks, "__defaults__", (512,))
    kinds = [{"a": None, "b": []}, {"a": 1, "b": [], "c": "2020-01-01"}, {"a": 1.5, "b": ["x"], "c": "word"}]
    rows = [{"c": None, **row} for row in kinds for _ in range(200)]
    (tmp_path / "x.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    assert read_table(tmp_path / "x.jsonl").to_pylist() == rows
    monkeypatch.setattr(spill, "LIMIT_BYTES", 1000)
    assert read_table(tmp_path / "x.jsonl").to_pylist() == rows


def test_objects_longer_than_a_block(tmp_path, monkeypatch):
    monkeypatch.setattr(utf8.blocks, "__defaults__", (64,))
    rows = [{"a": "é]},{" * 50 + str(number)} for number in range(5)]
    (tmp_path / "x.json").write_text(json.dumps(rows, ensure_ascii=False))
    (tmp_path / "x.jsonl").write_text("".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows))
    assert read_table(tmp_path / "x.json").to_pylist() == read_table(tmp_path / "x.jsonl").to_pylist() == rows


def test_semicolons_where_the_header_has_no_comma(tmp_path):
    (tmp_path / "x.csv").write_text('text;label\n"a; b, c";1\n')
    assert read_table(tmp_path / "x.csv").to_pylist() == [{"text": "a; b, c", "label": "1"}]


def test_a_quote_that_swallows_more_than_a_block(tmp_path, monkeypatch):
    monkeypatch.setattr("niwaki.data.delimited.BLOCK", 4096)
    (tmp_path / "x.csv").write_text("text,label\n" + "a,b\n" * 3000 + '"c,d\n' + "e,f\n" * 3000)
    with pytest.raises(
        InputError, match=r"a quote that opens in or after row \d+ never closes.*; or a row is longer than"
    ):
        read_table(tmp_path / "x.csv")


@given(body=some.text('ab",;\n\r', max_size=40), block=some.integers(3, 20))
def test_where_a_csv_is_cut_into_blocks_changes_nothing(tmp_path_factory, body, block):
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


def test_a_bad_row_behind_the_first_block_has_its_number(tmp_path, monkeypatch):
    monkeypatch.setattr(delimited, "BLOCK", 64)
    (tmp_path / "x.csv").write_text("text,label\n" + 'a,"b\n"\n\n' * 100 + "a,b,c\n" + "a,b\n" * 9)
    with pytest.raises(InputError, match="row 102 has 3 cells"):
        read_table(tmp_path / "x.csv")


@pytest.mark.parametrize("number", ["9" * 5001, "-" + "9" * 5001, "9" * 5001 + ".5", "1e" + "9" * 400])
@pytest.mark.parametrize("row", ['{"a": %s}', '{"a": [[null, [%s]]]}', '{"a": 1}\n{"a": "x", "b": %s}'])
def test_numbers_too_long_for_any_type_are_rejected(tmp_path, number, row):
    (tmp_path / "x.jsonl").write_text(row % number + "\n")
    (tmp_path / "x.json").write_text(f"[{(row % number).replace(chr(10), ',')}]")
    for name, unit in (("x.jsonl", "line"), ("x.json", "item")):
        with pytest.raises(InputError, match=rf"{unit} \d has a number of more than 308 digits"):
            read_splits(tmp_path / name)


def test_long_runs_of_digits_in_a_text_are_text(tmp_path):
    (tmp_path / "x.jsonl").write_text(json.dumps({"a": "9" * 5001}) + "\n")
    assert read_table(tmp_path / "x.jsonl").to_pylist() == [{"a": "9" * 5001}]


def test_a_quote_in_the_middle_of_a_cell_is_a_character(tmp_path):
    (tmp_path / "x.csv").write_text('text,label\n5" pipe,1\n')
    assert read_table(tmp_path / "x.csv").column("text").to_pylist() == ['5" pipe']


def test_a_folder_in_place_of_a_file_and_a_file_that_may_not_be_read(tmp_path, monkeypatch):
    (tmp_path / "train.csv").mkdir()
    with pytest.raises(InputError, match=r"train.csv: is a folder where a file is wanted"):
        read_splits(tmp_path)
    path = write(tmp_path, "x.csv")

    def denied(path):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(utf8, "open_binary", denied)  # the administrator, who may run tests, may read all files
    with pytest.raises(InputError, match=r"x.csv: may not be read \(permission denied\); `chmod"):
        read_splits(path)


def test_too_little_space_for_the_mapped_file_is_rejected_before_writing(tmp_path, monkeypatch):
    path = write(tmp_path, "x.csv")
    monkeypatch.setattr(spill, "LIMIT_BYTES", 1)
    monkeypatch.setattr(
        dataset_files, "gather", lambda batches, expect_bytes: spill.gather(batches, expect_bytes=1 << 60)
    )
    with pytest.raises(InputError, match=r"a copy of the rows \(see TMPDIR\) needs about"):
        read_splits(path)


def test_a_folder_without_train_rows(tmp_path):
    with pytest.raises(InputError, match=r"has no train file \(train.csv, train.tsv"):
        read_splits(tmp_path)


def test_a_null_among_lists_of_lists_stays_in_its_place(tmp_path):
    """Arrow's reader of JSON moves it, and what it gives is then shorter than it says (a crash, later)."""
    rows = [{"senses": [None, ["a"], ["b", "c"]]}, {"senses": [["d"], None]}, {"senses": [None, None]}]
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    table = dataset_files.read_splits(path)["all"]
    table.validate(full=True)
    assert table.to_pylist() == rows
