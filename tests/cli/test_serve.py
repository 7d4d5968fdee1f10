"""The command's own checks; tests/serve runs real servers."""

import pytest

pytest.importorskip("uvicorn")


def test_mistakes_end_in_one_line(niwaki, tmp_path):
    (tmp_path / "film").mkdir()
    for words, code, text in [
        (["none"], 3, "is not a folder"),
        ([], 2, "Missing argument"),
        ([tmp_path / "film", f"film={tmp_path / 'film'}"], 2, "two models"),
        ([tmp_path / "film", "--port", "70000"], 3, "port"),
        ([tmp_path / "film", "--timeout", "0"], 3, "timeout"),
        ([tmp_path / "film", "--api-keys", tmp_path / "keys"], 3, "cannot be read"),
    ]:
        found = niwaki("serve", *words)
        assert (found.code, len(found.faults)) == (code, 1) and text in found.err, found


def test_help_shows_an_example(niwaki):
    assert "niwaki serve runs/reviews" in niwaki("serve", "--help").out
