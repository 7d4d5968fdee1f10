"""Unlabelled texts of a user's own."""

import json
from collections import Counter
from pathlib import Path

import pytest

from niwaki.core.errors import InputError
from niwaki.data.unlabelled import digest, sample_texts, texts


def test_empty_lines_and_boms_are_skipped(tmp_path):
    path = tmp_path / "some.txt"
    path.write_bytes("\ufeffOne film.\n\n  Zwei Häuser. \r\n".encode())
    assert list(texts(path)) == ["One film.", "Zwei Häuser."]


def test_a_folder_of_plain_text_is_read_in_order(tmp_path):
    (tmp_path / "b.txt").write_text("two\n")
    (tmp_path / "a.txt").write_text("one\n")
    assert list(texts(tmp_path)) == ["one", "two"]


def test_a_table_gives_its_one_column_of_text_or_a_known_pair(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("id,blurb\n1,a text\n2,\n3,another\n")
    assert list(texts(path)) == ["a text", "another"]
    path.write_text("premise,hypothesis,id\nit rains,it is wet,1\nit snows,,2\n")
    assert list(texts(path)) == [("it rains", "it is wet")]
    path.write_text("one,two\na,b\n")
    with pytest.raises(InputError, match="which column holds the texts is not clear"):
        list(texts(path))
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps({"text": text, "title": "x"}) + "\n" for text in ("a", "b")))
    assert list(texts(path)) == ["a", "b"]


def test_what_is_drawn_follows_the_seed_and_no_text_comes_twice(tmp_path):
    path = tmp_path / "some.txt"
    path.write_text("".join(f"text {number % 50}\n" for number in range(200)))
    first = sample_texts(path, 20, 1)
    assert first == sample_texts(path, 20, 1) != sample_texts(path, 20, 2)
    assert len(set(first)) == 20
    assert len(sample_texts(path, 500, 0)) == 50
    assert all(text not in sample_texts(path, 20, 1, first.__contains__) for text in first)
    assert len(sample_texts(path, 40, 1, first.__contains__)) == 30


def test_every_text_is_as_likely(tmp_path):
    path = tmp_path / "some.txt"
    path.write_text("".join(f"{number}\n" for number in range(10)))
    counts = Counter(text for seed in range(600) for text in sample_texts(path, 3, seed))
    assert all(130 < counts[str(number)] < 230 for number in range(10))  # 180 each; ±50 is 4.5 standard deviations


def test_an_unreadable_file_is_rejected(tmp_path):
    path = tmp_path / "some.txt"
    path.write_bytes(b"caf\xe9\n")
    with pytest.raises(InputError, match="is not text in UTF-8"):
        sample_texts(path, 3, 0)
    path.write_text("\n \n")
    assert sample_texts(path, 3, 0) == []
    with pytest.raises(InputError, match="is not there"):
        digest(tmp_path / "none.txt")


def test_the_digest_is_of_the_texts_not_of_the_place(tmp_path):
    one, two = tmp_path / "one.txt", tmp_path / "two.txt"
    one.write_text("a\n")
    two.write_text("a\n")
    assert digest(one) == digest(two)
    two.write_text("b\n")
    assert digest(one) != digest(two)


def test_a_device_and_a_line_without_end_are_rejected(tmp_path):
    with pytest.raises(InputError, match="/dev/zero: is not a plain file"):
        digest(Path("/dev/zero"))
    path = tmp_path / "a.txt"
    path.write_text("short\n" + "x" * (9 << 20))
    with pytest.raises(InputError, match="line 2 is longer than 8 MB"):
        list(texts(path))


def test_how_a_file_is_read_counts_for_its_digest(tmp_path):
    lines, table, upper = tmp_path / "own.txt", tmp_path / "own.csv", tmp_path / "OWN.TXT"
    for path in (lines, table, upper):
        path.write_text("text\none\n")
    assert list(texts(lines)) == list(texts(upper)) == ["text", "one"] and list(texts(table)) == ["one"]
    assert digest(lines) == digest(upper) != digest(table)


def test_a_file_without_texts_is_rejected_with_advice(tmp_path):
    (tmp_path / "README.md").write_text("text")
    for path in (tmp_path, tmp_path / "README.md"):
        with pytest.raises(InputError, match=r"is no file of texts, and holds none; there is: \.txt"):
            list(texts(path))


def test_a_folder_of_lines_and_tables_says_which_it_means(tmp_path):
    (tmp_path / "LICENSE.txt").write_text("all rights\n")
    assert [*texts(tmp_path)] == ["all rights"]
    (tmp_path / "train.csv").write_text("text\na film\n")
    with pytest.raises(
        InputError, match=r"holds both lines of text \(LICENSE.txt\) and tables \(train.csv\); name the file"
    ):
        [*texts(tmp_path)]
