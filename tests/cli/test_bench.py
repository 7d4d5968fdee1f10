"""`niwaki bench`: what cannot be drawn is refused before anything is measured."""

import pytest

from niwaki import api


@pytest.fixture(autouse=True)
def nothing_is_measured(monkeypatch):
    monkeypatch.delattr(api, "bench")


def test_a_drawing_that_could_not_be_written(refused, tmp_path):
    assert "must end in .svg" in refused("bench", "model", "--plot", tmp_path / "x.png", code=2)
    assert "its folder is not there" in refused("bench", "model", "--plot", tmp_path / "no" / "x.svg")
    (tmp_path / "x.svg").mkdir()
    assert "is a folder" in refused("bench", "model", "--plot", tmp_path / "x.svg")
