"""Tables of static vectors, from a model's embeddings or from a file."""

import numpy as np
import pytest

import tiny
from evaluate.task_kinds import write_vectors
from niwaki.core.errors import InputError
from niwaki.data.ragged import Ragged
from niwaki.evaluate.baselines._vector_tables import Table, of_file, of_model


def test_text_vector_is_the_mean_of_its_rows():
    table = Table(np.array([[1, 2], [3, 5], [10, 0]], dtype=np.float32), lambda texts: Ragged.of([[0, 1, 1], [], [2]]))
    np.testing.assert_allclose(table.mean(["a", "b", "c"]), [[7 / 3, 4], [0, 0], [10, 0]], rtol=1e-6)


@pytest.mark.parametrize("family", ["bert", "albert", "roberta"])
def test_token_embeddings_are_averaged_without_special_tokens(family):
    """ALBERT's table is narrower than its layers."""
    model = tiny.model(family)
    ids = [model.tokenizer.convert_tokens_to_ids(piece) for piece in ("lovely", "film", "##s")]
    numbers = model.network.get_input_embeddings().weight.detach().numpy()
    found = of_model(model).mean(["lovely films", "lovely " * 100 + "film " * 100])
    np.testing.assert_allclose(found[0], numbers[ids].mean(axis=0), atol=1e-6)
    np.testing.assert_allclose(found[1], numbers[ids[:2]].mean(axis=0), atol=1e-5)  # nothing is cut


def test_word_vector_includes_the_neighbours(tmp_path):
    path = write_vectors(tmp_path, "a 1 10\nb 2 20\n")
    found = of_file(path, ["a b"]).around([["a", "b"], ["odd"], ["b", "a"]])
    nothing = [0, 0]
    a, b = [1, 10], [2, 20]
    expected = [[*nothing, *a, *b], [*a, *b, *nothing], [*nothing] * 3, [*nothing, *b, *a], [*b, *a, *nothing]]
    np.testing.assert_allclose(found, expected)


@pytest.mark.parametrize("header", ["", "4 2\n"])
def test_word_vectors_are_read_from_a_file(tmp_path, header):
    """Words as written, else in lower case; unknown ones and words with spaces do not count."""
    path = write_vectors(tmp_path, f"{header}film 1 2\nFilm 5 6\n\nvery 3 4\nof a 9 9\n\n")
    table = of_file(path, ["film Film VERY odd of"])
    np.testing.assert_allclose(table.mean(["film very", "Film", "VERY odd", "odd"]), [[2, 3], [5, 6], [3, 4], [0, 0]])
    assert len(table.vectors) == 3


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("film 1 2\nplot 1\n", "line 2 has 1 numbers, the first one 2"),
        ("film 1 x\n", r"not a file of word vectors.*\(line 1: could not convert"),
        ("film 1 2\nplot nan 1\n", "line 2 has a number that is not finite"),
        ("film 1 1e39\n", "line 1 has a number that is not finite"),
        ("film\nplot\n", "line 1 has no numbers"),
        ("film " + "1 " * (1 << 20), "line 1 is longer than 1 MB"),
        ("", "none of the words"),
        ("Haus 1 2\n", "none of the words"),
    ],
)
def test_invalid_vector_file_is_rejected(tmp_path, text, says):
    with pytest.raises(InputError, match=says):
        of_file(write_vectors(tmp_path, text), ["film plot"])
    with pytest.raises(InputError, match="not a file of word vectors"):
        of_file(tmp_path / "none.txt", ["film"])
