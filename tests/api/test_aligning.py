"""`niwaki.align` and tables of an encoder's word vectors."""

import json

import numpy as np
import pytest

from niwaki import api
from niwaki.core.errors import InputError, UsageError
from niwaki.vectors.table import read
from vectors.spaces import pairs, two_tables


@pytest.fixture
def files(tmp_path):
    for name, table in zip(("a", "b"), two_tables(noise=0.1), strict=True):
        table.write(tmp_path / f"{name}.vec")
    (tmp_path / "pairs.txt").write_text("".join(f"{a} {b}\n" for a, b in pairs(range(100))))
    (tmp_path / "test.txt").write_text("".join(f"{a} {b}\n" for a, b in pairs(range(200, 310))))
    return tmp_path


def test_mapped_vectors_are_written_and_scored(files):
    found = api.align(
        files / "a.vec", files / "b.vec", files / "pairs.txt", test=files / "test.txt", out=files / "mapped.vec"
    )
    assert found["words"] == [300, 300] and found["pairs"] == found["pairs_with_vectors"] == 100
    assert found["test"]["p@1"]["value"] > 0.9 and (found["test"]["words"], found["test"]["covered"]) == (110, 100)
    mapped, target = read(files / "mapped.vec"), read(files / "b.vec")
    cosines = (mapped.vectors * (target.vectors / np.linalg.norm(target.vectors, axis=1, keepdims=True))).sum(axis=1)
    assert mapped.words == read(files / "a.vec").words and cosines.mean() > 0.9
    json.dumps(found)


def test_fewer_seeds_and_words_are_taken_from_the_beginning(files):
    found = api.align(files / "a.vec", files / "b.vec", files / "pairs.txt", seeds=40, limit=25)
    assert (found["pairs"], found["pairs_with_vectors"], found["words"]) == (40, 25, [25, 25])


def test_what_both_tables_share_can_be_the_dictionary(files):
    found = api.align(files / "a.vec", files / "a.vec", "identical", changes=2)
    assert (
        found["pairs"] == 300
        and len(found["changes"]) == 2
        and found["changes"][0]["cosine"] == pytest.approx(1, abs=1e-3)
    )


def test_mistakes_are_rejected_before_any_work(files):
    with pytest.raises(UsageError, match="method 'orthogonl': is not known, did you mean 'orthogonal'"):
        api.align(files / "a.vec", files / "b.vec", files / "pairs.txt", method="orthogonl")
    with pytest.raises(InputError, match="is not a file of word vectors"):
        api.align(files / "none.vec", files / "b.vec", files / "pairs.txt")


def test_an_encoder_gives_word_vectors(encoder_folder, tmp_path):
    (tmp_path / "words.txt").write_text("film\nplot\n\nfilm\ngood\n")
    found = api.word_vectors(encoder_folder, tmp_path / "words.txt", tmp_path / "x.vec", engine="torch", limit=2)
    table = read(tmp_path / "x.vec")
    assert (found["words"], found["size"], table.words) == (2, table.vectors.shape[1], ["film", "plot"])
    assert np.allclose(table.vectors, api.load(encoder_folder, "torch").encode(["film", "plot"]), atol=1e-5)
    (tmp_path / "latin.txt").write_bytes("Käse\n".encode("latin-1"))
    with pytest.raises(InputError, match="is not text in UTF-8"):
        api.word_vectors(encoder_folder, tmp_path / "latin.txt", tmp_path / "x.vec")
    with pytest.raises(InputError, match="is not a file of words"):
        api.word_vectors(encoder_folder, tmp_path / "none.txt", tmp_path / "x.vec")
