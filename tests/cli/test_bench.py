"""`niwaki bench`: invalid arguments are rejected before anything is measured."""

import pytest

from niwaki import api


@pytest.fixture(autouse=True)
def nothing_is_measured(monkeypatch):
    monkeypatch.delattr(api, "bench")


def test_a_drawing_that_could_not_be_written(rejected, tmp_path):
    assert "must end in .svg" in rejected("bench", "model", "--plot", tmp_path / "x.png", code=2)
    assert "its folder is not there" in rejected("bench", "model", "--plot", tmp_path / "no" / "x.svg")
    (tmp_path / "x.svg").mkdir()
    assert "is a folder" in rejected("bench", "model", "--plot", tmp_path / "x.svg")
