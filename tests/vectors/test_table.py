"""Files of word vectors."""

import gzip

import numpy as np
import pytest

from niwaki.core.errors import InputError
from niwaki.vectors.table import WordVectors, read


def test_a_table_is_read_as_it_was_written(tmp_path):
    table = WordVectors(["der", "Haus"], np.array([[1.5, -2], [0.25, 3e-5]], dtype=np.float32))
    table.write(tmp_path / "x.vec")
    assert (tmp_path / "x.vec").read_text().startswith("2 2\nder 1.5 -2\n")
    again = read(tmp_path / "x.vec")
    assert again.words == table.words and np.array_equal(again.vectors, table.vectors)


def test_a_table_that_cannot_be_written_leaves_the_one_before(tmp_path):
    table = WordVectors(["a"], np.ones((1, 2), dtype=np.float32))
    table.write(tmp_path / "x.vec")
    with pytest.raises(UnicodeEncodeError):
        WordVectors(["b", "\ud800"], np.ones((2, 2), dtype=np.float32)).write(tmp_path / "x.vec")
    assert read(tmp_path / "x.vec").words == ["a"] and [path.name for path in tmp_path.iterdir()] == ["x.vec"]


def test_glove_files_have_no_header_and_may_be_compressed(tmp_path):
    text = "the 1 2 3\nof 4 5 6\n"
    (tmp_path / "x.txt").write_text(text)
    with gzip.open(tmp_path / "x.txt.gz", "wt") as file:
        file.write(text)
    for name in ("x.txt", "x.txt.gz"):
        found = read(tmp_path / name)
        assert found.words == ["the", "of"] and found.vectors.tolist() == [[1, 2, 3], [4, 5, 6]]


def test_words_may_contain_spaces_where_a_header_states_the_size(tmp_path):
    (tmp_path / "x.vec").write_text("2 2\nNew York 1 2\nof 3 4\n")
    assert read(tmp_path / "x.vec").words == ["New York", "of"]


def test_only_the_first_words_are_read_and_the_first_of_two_counts(tmp_path):
    (tmp_path / "x.vec").write_text("a 1\na 2\nb 3\nc broken\n")
    found = read(tmp_path / "x.vec", limit=2)
    assert found.words == ["a", "b"] and found.vectors.tolist() == [[1], [3]]
    assert found.first(1).words == ["a"] and found.first(0) is found


@pytest.mark.parametrize(
    "content, problem",
    [
        (b"", "has no word vectors"),
        (b"a 1 2\nb 1\n", "line 2 is not a word with 2 numbers"),
        (b"a 1 2\nb x 2\n", "line 2 is not a word with 2 numbers"),
        (b"a 1 nan\n", "line 1 has a number that is not finite"),
        (b"a\n", "line 1 is not a word with 0 numbers"),
        (b"\xff\xfe\x00", "is not text in UTF-8"),
    ],
)
def test_a_broken_file_is_rejected_in_one_line(tmp_path, content, problem):
    (tmp_path / "x.vec").write_bytes(content)
    with pytest.raises(InputError, match=problem):
        read(tmp_path / "x.vec")
    (tmp_path / "x.vec.gz").write_bytes(b"no gzip")
    with pytest.raises(InputError, match="cannot be read"):
        read(tmp_path / "x.vec.gz")
    with pytest.raises(InputError, match="is not a file of word vectors"):
        read(tmp_path / "none.vec")
