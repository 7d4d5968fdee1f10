"""Commands that answer texts share their options: words or files, never both."""

import pytest


@pytest.mark.parametrize("verb", ["predict", "fill", "score"])
def test_texts_and_files_are_not_combined(rejected, verb, tmp_path):
    (tmp_path / "a.txt").write_text("a ___\n")
    assert f"{verb}: give texts, or a file" in rejected(verb, "model", "a ___", "--in", tmp_path / "a.txt", code=2)
    assert "are for files; leave them out" in rejected(verb, "model", "a ___", "--skip-bad", code=2)
    assert "is not there" in rejected(verb, "model", "--in", tmp_path / "b.txt")
