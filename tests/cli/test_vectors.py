"""`niwaki vectors MODEL WORDS`."""

from niwaki.vectors.table import read


def test_a_table_of_an_encoders_words_is_written(niwaki, rejected, encoder_folder, tmp_path):
    (tmp_path / "words.txt").write_text("film\nplot\n")
    given = ("vectors", encoder_folder, tmp_path / "words.txt", "--engine", "torch", "--out", tmp_path / "x.vec")
    assert niwaki(*given).out.startswith(f"{tmp_path / 'x.vec'}: 2 words, ")
    assert read(tmp_path / "x.vec").words == ["film", "plot"]
    assert "is not a file of words" in rejected("vectors", encoder_folder, tmp_path / "none.txt", "--engine", "torch")
