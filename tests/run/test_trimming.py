"""Trimming a folder: what is rejected before anything is read, and graphs."""

import pytest

import stock
import tiny
from niwaki.core.errors import InputError, UsageError
from niwaki.run.trimming import trim


@pytest.fixture
def texts(tmp_path):
    path = tmp_path / "texts.txt"
    path.write_text("good film\n")
    return path


def test_an_encoder_is_trimmed_with_its_graph(texts, tmp_path):
    source = tiny.with_graphs(tiny.model(), tmp_path / "whole")
    result = trim(source, tmp_path / "small", [texts], [], [], 1, all_characters=False)
    assert result["tokens"][1] < result["tokens"][0] and (tmp_path / "small" / "model.onnx").is_file()
    assert (tmp_path / "small" / "MANIFEST").is_file()


def test_targets_are_needed_by_what_generates(texts, tmp_path):
    folder = stock.folder("bart", tmp_path / "bart")
    with pytest.raises(UsageError, match="generates texts"):
        trim(folder, tmp_path / "small", [texts], [], [], 1, all_characters=True)
    with pytest.raises(UsageError, match="at least one file"):
        trim(folder, tmp_path / "small", [], [texts], [], 1, all_characters=True)
    with pytest.raises(InputError, match="is not there"):
        trim(folder, tmp_path / "small", [texts], [tmp_path / "none"], [], 1, all_characters=True)
    assert not (tmp_path / "small").exists()
