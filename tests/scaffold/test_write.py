"""Files are written all or none."""

import pytest

from niwaki.scaffold import write
from niwaki.scaffold.write import render, write_all_or_none


@pytest.fixture
def failing_write(monkeypatch):
    """Writing a file named `bad` fails, the others are written."""
    real = write.write_text

    def write_text(path, text):
        if path.name == "bad":
            raise OSError(28, "No space left on device", str(path))
        real(path, text)

    monkeypatch.setattr(write, "write_text", write_text)


def test_nothing_is_left_when_a_file_cannot_be_written(tmp_path, failing_write):
    with pytest.raises(OSError, match="No space"):
        write_all_or_none({tmp_path / "a" / "b" / "good": "1", tmp_path / "c" / "bad": "2"}, as_packages=True)
    assert list(tmp_path.iterdir()) == []


def test_previous_content_is_restored_when_a_file_cannot_be_written(tmp_path, failing_write):
    (tmp_path / "old").write_text("before")
    with pytest.raises(OSError, match="No space"):
        write_all_or_none({tmp_path / "old": "after", tmp_path / "bad": ""})
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("old", "before")]


def test_new_folders_become_packages(tmp_path):
    write_all_or_none({tmp_path / "a" / "b" / "c.py": "x"}, as_packages=True)
    assert {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.py")} == {
        "a/__init__.py",
        "a/b/__init__.py",
        "a/b/c.py",
    }


def test_a_template_without_a_value_is_an_error():
    from jinja2 import UndefinedError

    with pytest.raises(UndefinedError):
        render("recipe.j2", {})
