"""An entry and its test are written together."""

from pathlib import Path

import pytest

from niwaki.core.errors import InputError
from niwaki.scaffold import entry
from niwaki.scaffold.entry import class_name, new


def test_outside_a_checkout_the_message_names_the_options(monkeypatch, tmp_path):
    monkeypatch.setattr(entry, "SOURCE", tmp_path / "site-packages" / "niwaki")
    with pytest.raises(InputError, match="clone it, or give --package NAME or --into FOLDER"):
        new("task", "x")


def test_entry_and_test_are_written_into_one_folder(tmp_path):
    paths = new("task", "sorts_mail", into=tmp_path / "own")
    assert paths == [tmp_path / "own" / "sorts_mail.py", tmp_path / "own" / "test_sorts_mail.py"]
    assert "from sorts_mail import SortsMail" in paths[1].read_text()


def test_an_existing_file_is_not_overwritten(tmp_path):
    (tmp_path / "test_x.py").write_text("mine")
    with pytest.raises(InputError, match="exists already"):
        new("task", "x", into=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["test_x.py"]


def test_a_class_name_that_the_template_uses_gets_the_kind_as_suffix():
    assert class_name("method", "soft_penalty") == "SoftPenalty"
    assert class_name("method", "tensor") == "TensorMethod"


def test_relative_folders_are_accepted(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert all(path.is_file() for path in new("recipe", "small-2", into=Path("own")))
